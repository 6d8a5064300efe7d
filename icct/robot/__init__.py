"""The robot demo: fourteen robots on a figure eight, in the Robotarium's own simulator.

    simulator ─► poses ─► Fleet.see ─► observation ─► policy
    velocities ◄─ Fleet.drive ◄─ acceleration ◄─────────┘

track, mapping, drivers, crossing, verifier and fleet need numpy alone, and import nothing else of
icct: the script for the testbed (script.py) is made of their text. docs/robots.md tells the story.
"""
