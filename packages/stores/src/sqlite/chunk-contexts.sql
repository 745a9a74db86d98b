-- What a chat model has written to find a chunk by. A chunk gets a new key with it: what an index holds under a key never
-- changes.
CREATE TABLE chunk_contexts (
  key INTEGER PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
  context TEXT NOT NULL
) STRICT;
