"""What all packages use: errors, messages, files, tables, threads, devices and parameters."""
