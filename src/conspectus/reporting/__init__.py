"""What a person looks at: pictures and reports."""
