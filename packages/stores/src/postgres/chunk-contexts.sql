-- What a chat model has written to find a chunk by. A chunk gets a new key with it: what an index holds under a key never
-- changes.
CREATE TABLE chunk_contexts (
  key bigint PRIMARY KEY REFERENCES chunks (key) ON DELETE CASCADE,
  context text NOT NULL
);
