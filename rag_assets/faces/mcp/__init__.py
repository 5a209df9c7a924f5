"""The corpus as tools of the Model Context Protocol (MCP), for assistants that check what papers
say."""
