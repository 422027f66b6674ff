"""The main job from end to end: orders into a topic, through Spark, out again, and added up."""
