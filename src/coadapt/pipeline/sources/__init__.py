"""Where partners come from: self-play, players of one's own, files, or several of these together."""
