"""Views: noisy tables of few columns each, chosen without data, that agree and give marginals."""
