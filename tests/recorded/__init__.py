"""What the networks that come with the package decide, believe and earn, written down once."""
