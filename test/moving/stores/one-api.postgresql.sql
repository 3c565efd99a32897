--
-- PostgreSQL database dump
--

\restrict lEB08JXXAXN3bZEZputo5pqQ09adch131gDHwsd0z6OJtcHLv8Eu7d6ZcjgDCXM

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: abilities; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.abilities (
    "group" character varying(32) NOT NULL,
    model text NOT NULL,
    channel_id bigint NOT NULL,
    enabled boolean,
    priority bigint DEFAULT 0
);


ALTER TABLE public.abilities OWNER TO postgres;

--
-- Name: channels; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.channels (
    id bigint NOT NULL,
    type bigint DEFAULT 0,
    key text,
    status bigint DEFAULT 1,
    name text,
    weight bigint DEFAULT 0,
    created_time bigint,
    test_time bigint,
    response_time bigint,
    base_url text DEFAULT ''::text,
    other text,
    balance numeric,
    balance_updated_time bigint,
    models text,
    "group" character varying(32) DEFAULT 'default'::character varying,
    used_quota bigint DEFAULT 0,
    model_mapping character varying(1024) DEFAULT ''::character varying,
    priority bigint DEFAULT 0,
    config text,
    system_prompt text
);


ALTER TABLE public.channels OWNER TO postgres;

--
-- Name: channels_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.channels_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.channels_id_seq OWNER TO postgres;

--
-- Name: channels_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.channels_id_seq OWNED BY public.channels.id;


--
-- Name: logs; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.logs (
    id bigint NOT NULL,
    user_id bigint,
    created_at bigint,
    type bigint,
    content text,
    username text DEFAULT ''::text,
    token_name text DEFAULT ''::text,
    model_name text DEFAULT ''::text,
    quota bigint DEFAULT 0,
    prompt_tokens bigint DEFAULT 0,
    completion_tokens bigint DEFAULT 0,
    channel_id bigint,
    request_id text DEFAULT ''::text,
    elapsed_time bigint DEFAULT 0,
    is_stream boolean DEFAULT false,
    system_prompt_reset boolean DEFAULT false
);


ALTER TABLE public.logs OWNER TO postgres;

--
-- Name: logs_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.logs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.logs_id_seq OWNER TO postgres;

--
-- Name: logs_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.logs_id_seq OWNED BY public.logs.id;


--
-- Name: options; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.options (
    key text NOT NULL,
    value text
);


ALTER TABLE public.options OWNER TO postgres;

--
-- Name: redemptions; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.redemptions (
    id bigint NOT NULL,
    user_id bigint,
    key character(32),
    status bigint DEFAULT 1,
    name text,
    quota bigint DEFAULT 100,
    created_time bigint,
    redeemed_time bigint
);


ALTER TABLE public.redemptions OWNER TO postgres;

--
-- Name: redemptions_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.redemptions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.redemptions_id_seq OWNER TO postgres;

--
-- Name: redemptions_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.redemptions_id_seq OWNED BY public.redemptions.id;


--
-- Name: tokens; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.tokens (
    id bigint NOT NULL,
    user_id bigint,
    key character(48),
    status bigint DEFAULT 1,
    name text,
    created_time bigint,
    accessed_time bigint,
    expired_time bigint DEFAULT '-1'::integer,
    remain_quota bigint DEFAULT 0,
    unlimited_quota boolean DEFAULT false,
    used_quota bigint DEFAULT 0,
    models text,
    subnet text DEFAULT ''::text
);


ALTER TABLE public.tokens OWNER TO postgres;

--
-- Name: tokens_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.tokens_id_seq OWNER TO postgres;

--
-- Name: tokens_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.tokens_id_seq OWNED BY public.tokens.id;


--
-- Name: users; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.users (
    id bigint NOT NULL,
    username text,
    password text NOT NULL,
    display_name text,
    role bigint DEFAULT 1,
    status bigint DEFAULT 1,
    email text,
    github_id text,
    wechat_id text,
    lark_id text,
    oidc_id text,
    access_token character(32),
    quota bigint DEFAULT 0,
    used_quota bigint DEFAULT 0,
    request_count bigint DEFAULT 0,
    "group" character varying(32) DEFAULT 'default'::character varying,
    aff_code character varying(32),
    inviter_id bigint
);


ALTER TABLE public.users OWNER TO postgres;

--
-- Name: users_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.users_id_seq OWNER TO postgres;

--
-- Name: users_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.users_id_seq OWNED BY public.users.id;


--
-- Name: channels id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.channels ALTER COLUMN id SET DEFAULT nextval('public.channels_id_seq'::regclass);


--
-- Name: logs id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.logs ALTER COLUMN id SET DEFAULT nextval('public.logs_id_seq'::regclass);


--
-- Name: redemptions id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.redemptions ALTER COLUMN id SET DEFAULT nextval('public.redemptions_id_seq'::regclass);


--
-- Name: tokens id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.tokens ALTER COLUMN id SET DEFAULT nextval('public.tokens_id_seq'::regclass);


--
-- Name: users id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.users ALTER COLUMN id SET DEFAULT nextval('public.users_id_seq'::regclass);


--
-- Data for Name: abilities; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.abilities ("group", model, channel_id, enabled, priority) FROM stdin;
default	dall-e-3	1	t	10
vip	dall-e-3	1	t	10
default	whisper-1	1	t	10
vip	whisper-1	1	t	10
default	unpriced-model	1	t	10
vip	unpriced-model	1	t	10
default	gpt-4o	1	t	10
vip	gpt-4o	1	t	10
default	gpt-4o-mini	1	t	10
vip	gpt-4o-mini	1	t	10
default	text-embedding-3-small	1	t	10
vip	text-embedding-3-small	1	t	10
default	claude-3-5-sonnet-20241022	2	t	0
default	claude-3-haiku-20240307	3	t	0
default	gpt-4o	4	t	1
default	gpt-4o	5	f	0
\.


--
-- Data for Name: channels; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.channels (id, type, key, status, name, weight, created_time, test_time, response_time, base_url, other, balance, balance_updated_time, models, "group", used_quota, model_mapping, priority, config, system_prompt) FROM stdin;
1	1	sk-up-1	1	main	0	1795749674	0	0	http://127.0.0.1:4010	\N	0	0	gpt-4o,gpt-4o-mini,text-embedding-3-small,dall-e-3,whisper-1,unpriced-model	default,vip	0	{"gpt-4o":"gpt-4o-2024-11-20"}	10		\N
2	14	sk-ant-1	1	claude	0	1795749674	0	0		\N	0	0	claude-3-5-sonnet-20241022	default	0		0		\N
3	33	a|b|c	1	aws	0	1795749674	0	0		\N	0	0	claude-3-haiku-20240307	default	0		0		\N
4	1	sk-up-2	1	spare	0	1795749674	0	0	http://127.0.0.1:4011	\N	0	0	gpt-4o	default	0		1		\N
5	1	sk-up-3	2	off	0	1795749674	0	0		\N	0	0	gpt-4o	default	0		0		\N
\.


--
-- Data for Name: logs; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.logs (id, user_id, created_at, type, content, username, token_name, model_name, quota, prompt_tokens, completion_tokens, channel_id, request_id, elapsed_time, is_stream, system_prompt_reset) FROM stdin;
1	2	1795749674	3	管理员将用户额度从 ＄0.000000 额度修改为 ＄10.246914 额度	alice			0	0	0	0	202611270321146806143125346252	0	f	f
2	3	1795749674	3	管理员将用户额度从 ＄0.000000 额度修改为 ＄0.000002 额度	bob			0	0	0	0	2026112703211411363294852380454	0	f	f
3	4	1795749674	3	管理员将用户额度从 ＄0.000000 额度修改为 ＄-0.500000 额度	carol			0	0	0	0	2026112703211413315534568820832	0	f	f
4	5	1795749674	3	管理员将用户额度从 ＄0.000000 额度修改为 ＄0.001554 额度	dave			0	0	0	0	2026112703211415043552106541170	0	f	f
5	1	1795749674	3	管理员将用户额度从 ＄1000000000.000000 额度修改为 ＄200.000000 额度	root			0	0	0	0	2026112703211419277952582193917	0	f	f
\.


--
-- Data for Name: options; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.options (key, value) FROM stdin;
ModelRatio	{"gpt-4o":1.25,"gpt-4o-mini":0.075,"text-embedding-3-small":0.01,"dall-e-3":20,"whisper-1":15,"claude-3-5-sonnet-20241022":1.5}
CompletionRatio	{"gpt-4o":4,"gpt-4o-mini":4}
GroupRatio	{"default":1,"vip":0.9,"svip":0.8}
\.


--
-- Data for Name: redemptions; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.redemptions (id, user_id, key, status, name, quota, created_time, redeemed_time) FROM stdin;
1	1	b4a6a93cc578474386acb9f88a8409b4	1	codes	100	1795749675	0
2	1	e0336e1017c04ecfa9d1b12d9a3cbf24	1	codes	100	1795749675	0
\.


--
-- Data for Name: tokens; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.tokens (id, user_id, key, status, name, created_time, accessed_time, expired_time, remain_quota, unlimited_quota, used_quota, models, subnet) FROM stdin;
1	2	1mCINhFJWYCcXFF78b1f454e4108490a88Ec145f69A8DeE8	1	default	1795749672	1795749672	-1	-1	t	0	\N	
2	3	KX6EyzjhmoWA6His5bF53856BbD34aE698D2D2D35b574fEf	1	default	1795749672	1795749672	-1	-1	t	0	\N	
3	4	iKegKIHNCDnwj0rC9e7455C3740047F99cF9EdC8D84e0a3a	1	default	1795749673	1795749673	-1	-1	t	0	\N	
4	5	jtGDmBu5Wj89Z0Gy21Da244c209d4bF6865eC15103E1B152	1	default	1795749673	1795749673	-1	-1	t	0	\N	
5	6	Qi6pftfWIDosVePY62C967798f8d416e984506903698C836	1	default	1795749673	1795749673	-1	-1	t	0	\N	
6	2	7fTGMAhzVz2oJIGO8a76Cb78243f46238e02470fA0E39bB5	1	open	1795749674	1795749674	-1	0	t	0	\N	
7	2	SnBW3atltbzK5DgpCc79C48bC2744dC0B5CeD75f3877928c	1	limited	1795749674	1795749674	1827285674	1000000	f	0	gpt-4o,gpt-4o-mini	127.0.0.0/8,10.1.2.3/32
9	2	wgv40IGFQbT1RYbJ498fD570959848128166A606Cf47380c	1	empty	1795749674	1795749674	-1	0	f	0	\N	
8	2	bWq4v4vmUB3oMycJCf1fBf69EdB44c80Bb7346B0B735Bc03	2	off	1795749674	1795749674	-1	10	f	0	\N	
11	3	6c4AT8zKDlmqw0VdE026AeE84736484598B50e77C06f1972	1	bobs	1795749674	1795749674	-1	0	t	0	\N	
\.


--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.users (id, username, password, display_name, role, status, email, github_id, wechat_id, lark_id, oidc_id, access_token, quota, used_quota, request_count, "group", aff_code, inviter_id) FROM stdin;
2	alice	$2a$10$CFJEwpsKhK4YcfCeDNcf4OZOgeudZ04zuqb8B1kZK9zyhcmUlbuMK	Alice O'Hara	1	1	alice@example.com					a8e3de22798c48f89a216047e1782089	5123457	0	0	vip	772v	0
3	bob	$2a$10$vu00yE/6wM8Qu3Sls/ELiuB7AsBPz/AyS6kQqWAF01gehoB0wTut2	Боб	1	1	bob@example.com					71625f27fdec4bd88d99a7d3f57361aa	1	0	0	default	oLhg	0
4	carol	$2a$10$wHVgu.oBLUTCd5vVrWh6Wub3yAUFVQ6j3Ucz1Q.t0lnzKnfGCtnvW	Carol\\n"x"	1	1						53f24396ece4493a8673ef62ffa7707c	-250000	0	0	default	jB5k	0
1	root	$2a$10$DjEB04tikfkS.xzMXpHPsObRzvHXZ8zIuYLuQR2pMljD0UOxEJgz2	Root User	100	1						b169fab3bbb64547b6c87ae282ed2408	100000000	0	0	default		0
5	dave	$2a$10$tXbvlMySoXABGdGSHQzW5O1IxWNgcUDwxVl3aZ7KOxVBwKsrEVtIq	Dave	1	2						3ae3fb54f7e747688d92154b7d55dbd3	777	0	0	default	je7x	0
6	deleted_fd7c5daa8dea442db77a25f423e0d764	$2a$10$p2XnZXm9zFgOHAYfsPQqhOCPEZTZbIhX7J8tDCOHwtAqq.0AVc8Y6	Erin	1	3						ce3704fca76d486283501643e253770e	0	0	0	default	yghY	0
\.


--
-- Name: channels_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.channels_id_seq', 5, true);


--
-- Name: logs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.logs_id_seq', 5, true);


--
-- Name: redemptions_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.redemptions_id_seq', 2, true);


--
-- Name: tokens_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.tokens_id_seq', 11, true);


--
-- Name: users_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.users_id_seq', 6, true);


--
-- Name: abilities abilities_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.abilities
    ADD CONSTRAINT abilities_pkey PRIMARY KEY ("group", model, channel_id);


--
-- Name: channels channels_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.channels
    ADD CONSTRAINT channels_pkey PRIMARY KEY (id);


--
-- Name: logs logs_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.logs
    ADD CONSTRAINT logs_pkey PRIMARY KEY (id);


--
-- Name: options options_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.options
    ADD CONSTRAINT options_pkey PRIMARY KEY (key);


--
-- Name: redemptions redemptions_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.redemptions
    ADD CONSTRAINT redemptions_pkey PRIMARY KEY (id);


--
-- Name: tokens tokens_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);


--
-- Name: users uni_users_username; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT uni_users_username UNIQUE (username);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


--
-- Name: idx_abilities_channel_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_abilities_channel_id ON public.abilities USING btree (channel_id);


--
-- Name: idx_abilities_priority; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_abilities_priority ON public.abilities USING btree (priority);


--
-- Name: idx_channels_name; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_channels_name ON public.channels USING btree (name);


--
-- Name: idx_created_at_type; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_created_at_type ON public.logs USING btree (created_at, type);


--
-- Name: idx_logs_channel_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_logs_channel_id ON public.logs USING btree (channel_id);


--
-- Name: idx_logs_model_name; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_logs_model_name ON public.logs USING btree (model_name);


--
-- Name: idx_logs_token_name; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_logs_token_name ON public.logs USING btree (token_name);


--
-- Name: idx_logs_user_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_logs_user_id ON public.logs USING btree (user_id);


--
-- Name: idx_redemptions_key; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX idx_redemptions_key ON public.redemptions USING btree (key);


--
-- Name: idx_redemptions_name; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_redemptions_name ON public.redemptions USING btree (name);


--
-- Name: idx_tokens_key; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX idx_tokens_key ON public.tokens USING btree (key);


--
-- Name: idx_tokens_name; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_tokens_name ON public.tokens USING btree (name);


--
-- Name: idx_users_access_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX idx_users_access_token ON public.users USING btree (access_token);


--
-- Name: idx_users_aff_code; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX idx_users_aff_code ON public.users USING btree (aff_code);


--
-- Name: idx_users_display_name; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_users_display_name ON public.users USING btree (display_name);


--
-- Name: idx_users_email; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_users_email ON public.users USING btree (email);


--
-- Name: idx_users_git_hub_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_users_git_hub_id ON public.users USING btree (github_id);


--
-- Name: idx_users_inviter_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_users_inviter_id ON public.users USING btree (inviter_id);


--
-- Name: idx_users_lark_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_users_lark_id ON public.users USING btree (lark_id);


--
-- Name: idx_users_oidc_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_users_oidc_id ON public.users USING btree (oidc_id);


--
-- Name: idx_users_username; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_users_username ON public.users USING btree (username);


--
-- Name: idx_users_we_chat_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX idx_users_we_chat_id ON public.users USING btree (wechat_id);


--
-- Name: index_username_model_name; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_username_model_name ON public.logs USING btree (model_name, username);


--
-- PostgreSQL database dump complete
--

\unrestrict lEB08JXXAXN3bZEZputo5pqQ09adch131gDHwsd0z6OJtcHLv8Eu7d6ZcjgDCXM

