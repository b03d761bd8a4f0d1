"""Views of many dimensions with noise, and marginals made from them."""
