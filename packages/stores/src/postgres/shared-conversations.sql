-- Who may read a conversation besides its owner, as a JSON list of `user:<id>` and `group:<id>`. Once released, this file is
-- never changed: see `migrate.ts`.

ALTER TABLE conversations ADD COLUMN access text;
CREATE INDEX conversations_shared ON conversations (updated_at, number) WHERE access IS NOT NULL;
