-- What people think of answers, each of which is an item of a conversation or a kept response, of which there is a copy
-- of what was said. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE feedback (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  owner text COLLATE "C" NOT NULL,
  conversation bigint,
  item text COLLATE "C",
  response text COLLATE "C" REFERENCES artifacts (id) ON DELETE CASCADE,
  copy text,
  rating text COLLATE "C" NOT NULL,
  comment text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (conversation, item),
  UNIQUE (response, owner),
  FOREIGN KEY (conversation, item) REFERENCES conversation_items (conversation, id) ON DELETE CASCADE
);
CREATE INDEX feedback_of_owner ON feedback (owner, number);
