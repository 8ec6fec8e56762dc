"""What graphs keep beyond a thread: LangGraph's store on the one file; it knows no thread and no checkpoint."""
