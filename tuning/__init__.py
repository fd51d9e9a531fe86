"""How the matrix game's training settings were found: `make tuning`. Whoever uses coadapt needs none of it."""
