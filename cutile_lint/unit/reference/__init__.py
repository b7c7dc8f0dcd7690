"""Reference evidence: what the kernel that was ported does."""
