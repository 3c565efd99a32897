// A store of new-api by its published schema, with the names and types that GORM gives the columns in SQLite.

/** `char(48)` keys of the two users. */
export const OLD_KEYS = [
  'aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5oQ7sU9wY1aC3',
  'zY9xW7vU5tS3rQ1pO9nM7lK5jI3hG1fE9dC7bA5zX3vT1rP9',
] as const;

export const NEW_API = `
CREATE TABLE \`users\` (\`id\` integer,\`username\` text,\`password\` text NOT NULL,\`display_name\` text,\`role\` integer DEFAULT 1,\`status\` integer DEFAULT 1,\`email\` text,\`github_id\` text,\`quota\` integer DEFAULT 0,\`used_quota\` integer DEFAULT 0,\`group\` varchar(64) DEFAULT "default",\`deleted_at\` datetime,\`setting\` text,\`created_at\` integer,PRIMARY KEY (\`id\`));
CREATE TABLE \`tokens\` (\`id\` integer,\`user_id\` integer,\`key\` char(48),\`status\` integer DEFAULT 1,\`name\` text,\`created_time\` integer,\`accessed_time\` integer,\`expired_time\` integer DEFAULT -1,\`remain_quota\` integer DEFAULT 0,\`unlimited_quota\` numeric,\`model_limits_enabled\` numeric,\`model_limits\` text,\`allow_ips\` text DEFAULT "",\`used_quota\` integer DEFAULT 0,\`group\` text DEFAULT "",\`deleted_at\` datetime,PRIMARY KEY (\`id\`));
CREATE TABLE \`channels\` (\`id\` integer,\`type\` integer DEFAULT 0,\`key\` text NOT NULL,\`status\` integer DEFAULT 1,\`name\` text,\`weight\` integer DEFAULT 0,\`base_url\` text DEFAULT "",\`models\` text,\`group\` varchar(64) DEFAULT "default",\`model_mapping\` text,\`priority\` integer DEFAULT 0,\`channel_info\` json,\`setting\` text,PRIMARY KEY (\`id\`));
CREATE TABLE \`options\` (\`key\` text,\`value\` text,PRIMARY KEY (\`key\`));
CREATE TABLE \`two_fas\` (\`id\` integer PRIMARY KEY AUTOINCREMENT,\`user_id\` integer);
INSERT INTO users VALUES (1,'ann','x','Ann',1,1,'ann@example.com','',600000,5,'vip',NULL,'',1700000000);
INSERT INTO users VALUES (2,'bob','x','',1,2,'','',3,0,'default',NULL,'',1700000000);
INSERT INTO users VALUES (3,'gone','x','',1,1,'','',9,0,'default','2026-01-01 00:00:00','',0);
INSERT INTO tokens VALUES (1,1,'${OLD_KEYS[0]}',1,'first',1700000000,0,-1,0,1,0,'x','',0,'',NULL);
INSERT INTO tokens VALUES (2,1,'${OLD_KEYS[1]}',1,'second',1700000000,0,-1,250000,0,1,'gpt-4o,deepseek-chat','10.0.0.0/8
1.2.3.4',0,'vip',NULL);
INSERT INTO tokens VALUES (3,3,'other',1,'third',0,0,-1,0,1,0,'','',0,'',NULL);
INSERT INTO channels VALUES (7,1,'sk-one
sk-two',1,'main',0,'http://127.0.0.1:4010/','gpt-4o,deepseek-chat,text-embedding-3-small,gpt-image-1','default','{"gpt-4o":"up-4o"}',5,'{}','{"proxy":"http://proxy"}');
INSERT INTO channels VALUES (8,43,'sk-deep',1,'deep',0,'','deepseek-chat,deepseek-reasoner','default','',0,'{}','');
INSERT INTO channels VALUES (9,24,'g-key',1,'google',0,'','gemini-2.5-flash,veo-3','default',NULL,0,'{}',NULL);
INSERT INTO options VALUES ('ModelRatio','{"gpt-4o":1.25,"deepseek-chat":0.135,"text-embedding-3-small":0.01,"gemini-2.5-flash":0.15,"deepseek-reasoner":0}');
INSERT INTO options VALUES ('CompletionRatio','{"gpt-4o":4,"deepseek-chat":4.07,"deepseek-reasoner":4}');
INSERT INTO options VALUES ('CacheRatio','{"gpt-4o":0.5}');
INSERT INTO options VALUES ('CreateCacheRatio','{"gpt-4o":1.25}');
INSERT INTO options VALUES ('AudioRatio','{"gpt-4o":16}');
INSERT INTO options VALUES ('ModelPrice','{"gpt-image-1":0.04}');
INSERT INTO options VALUES ('GroupRatio','{"default":1,"vip":0.85,"Группа 2":1.2,"free":0}');
INSERT INTO two_fas VALUES (1,1);
`;
