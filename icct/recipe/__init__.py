"""The recipe: teach with a complete tree, distil it into a sparse one, polish what is deployed."""

from icct.recipe.config import Recipe, Student, make_recipe, takes
from icct.recipe.run import Result, follow, go_on

__all__ = ["Recipe", "Result", "Student", "follow", "go_on", "make_recipe", "takes"]
