-- What people think of answers, each of which is an item of a conversation or a kept response, of which there is a copy
-- of what was said. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE feedback (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  conversation INTEGER,
  item TEXT,
  response TEXT REFERENCES artifacts (id) ON DELETE CASCADE,
  copy TEXT,
  rating TEXT NOT NULL,
  comment TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (conversation, item),
  UNIQUE (response, owner),
  FOREIGN KEY (conversation, item) REFERENCES conversation_items (conversation, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX feedback_of_owner ON feedback (owner, number);
