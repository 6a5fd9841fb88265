"""Parameter blocks: what a panel does besides judging quality, each one record, fitted and certified together."""
