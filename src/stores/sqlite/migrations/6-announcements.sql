-- Written by a trigger, and so in the transaction that ends an ingestion, whoever ends it.

CREATE TABLE announcements (
  document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
  id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL,
  status TEXT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  ended_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX announcements_due ON announcements (due_at);
INSERT INTO meta VALUES ('announcing', 0);

CREATE TRIGGER document_ended AFTER UPDATE OF status ON documents
WHEN new.status <> old.status AND new.status IN ('ready', 'failed')
  AND (SELECT value FROM meta WHERE name = 'announcing') = 1 BEGIN
  INSERT OR REPLACE INTO announcements
    (document, id, revision, status, error_code, error_message, ended_at, due_at)
  VALUES (new.number, 'msg_' || lower(hex(randomblob(16))), new.revision, new.status,
    new.error_code, new.error_message, new.updated_at, new.updated_at);
END;
