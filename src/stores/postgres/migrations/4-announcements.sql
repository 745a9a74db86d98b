-- What is still to be told outside of documents whose ingestion has ended. Written by a trigger, and so in the
-- transaction that ends an ingestion, whoever ends it.

CREATE TABLE announcements (
  document bigint PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
  id text COLLATE "C" NOT NULL UNIQUE,
  revision integer NOT NULL,
  status text NOT NULL,
  error_code text,
  error_message text,
  ended_at bigint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  due_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX announcements_due ON announcements (due_at);
INSERT INTO meta VALUES ('announcing', 0);

CREATE FUNCTION announce_end() RETURNS trigger LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
BEGIN
  IF (SELECT value FROM meta WHERE name = 'announcing') = 0 THEN RETURN NULL; END IF;
  INSERT INTO announcements (document, id, revision, status, error_code, error_message, ended_at, due_at)
  VALUES (new.number, 'msg_' || replace(gen_random_uuid()::text, '-', ''), new.revision, new.status, new.error_code,
    new.error_message, new.updated_at, new.updated_at)
  ON CONFLICT (document) DO UPDATE SET id = excluded.id, revision = excluded.revision, status = excluded.status,
    error_code = excluded.error_code, error_message = excluded.error_message, ended_at = excluded.ended_at,
    attempts = 0, due_at = excluded.due_at;
  RETURN NULL;
END $$;

CREATE TRIGGER document_ended AFTER UPDATE OF status ON documents
FOR EACH ROW WHEN (new.status <> old.status AND new.status IN ('ready', 'failed'))
EXECUTE FUNCTION announce_end();

CREATE FUNCTION announce(wanted boolean) RETURNS void LANGUAGE sql SET search_path = agent_server, pg_temp AS $$
  UPDATE meta SET value = wanted::int WHERE name = 'announcing';
  DELETE FROM announcements WHERE NOT wanted;
$$;
