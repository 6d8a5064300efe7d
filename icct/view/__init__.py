"""What a person looks at in a browser. Reads values, never imports torch."""

from icct.view.page import page

__all__ = ["page"]
