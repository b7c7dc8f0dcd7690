"""Device kernels: what they read and write, how they loop, and in which types they compute."""
