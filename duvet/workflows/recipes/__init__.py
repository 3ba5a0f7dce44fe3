"""Recipes: workflows in files of their own, as people who look after a project write them."""
