"""Methods of protection, a folder each; :mod:`.registered` lists them."""
