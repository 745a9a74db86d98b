-- Which servers want ends to be announced, each until a time that it puts off: one that wants none speaks for itself alone.

CREATE TABLE announcers (
  owner text COLLATE "C" PRIMARY KEY,
  until bigint NOT NULL
);
INSERT INTO announcers SELECT 'earlier', now_ms() + 259200000 FROM meta WHERE name = 'announcing' AND value = 1;
DELETE FROM meta WHERE name = 'announcing';

CREATE OR REPLACE FUNCTION announce_end() RETURNS trigger LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM announcers WHERE until > now_ms()) THEN RETURN NULL; END IF;
  INSERT INTO announcements (document, id, revision, status, error_code, error_message, ended_at, due_at)
  VALUES (new.number, 'msg_' || replace(gen_random_uuid()::text, '-', ''), new.revision, new.status, new.error_code,
    new.error_message, new.updated_at, new.updated_at)
  ON CONFLICT (document) DO UPDATE SET id = excluded.id, revision = excluded.revision, status = excluded.status,
    error_code = excluded.error_code, error_message = excluded.error_message, ended_at = excluded.ended_at,
    attempts = 0, due_at = excluded.due_at;
  RETURN NULL;
END $$;

DROP FUNCTION announce(boolean);

CREATE FUNCTION want_announcements(a_owner text, lease bigint) RETURNS void LANGUAGE sql SET search_path = agent_server, pg_temp AS $$
  DELETE FROM announcers WHERE until <= now_ms();
  INSERT INTO announcers (owner, until) VALUES (a_owner, now_ms() + lease)
  ON CONFLICT (owner) DO UPDATE SET until = excluded.until;
$$;

-- What waits is dropped where no other server wants it either.
CREATE FUNCTION want_no_announcements(a_owner text) RETURNS void LANGUAGE sql SET search_path = agent_server, pg_temp AS $$
  DELETE FROM announcers WHERE owner = a_owner OR until <= now_ms();
  DELETE FROM announcements WHERE NOT EXISTS (SELECT 1 FROM announcers);
$$;
