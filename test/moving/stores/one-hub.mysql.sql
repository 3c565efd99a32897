/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: onehub
-- ------------------------------------------------------
-- Server version	10.11.19-MariaDB-0+deb12u1

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Table structure for table `channels`
--

DROP TABLE IF EXISTS `channels`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `channels` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `type` bigint(20) DEFAULT 0,
  `key` text DEFAULT NULL,
  `status` bigint(20) DEFAULT 1,
  `name` varchar(191) DEFAULT NULL,
  `weight` bigint(20) unsigned DEFAULT 1,
  `created_time` bigint(20) DEFAULT NULL,
  `test_time` bigint(20) DEFAULT NULL,
  `response_time` bigint(20) DEFAULT NULL,
  `base_url` varchar(191) DEFAULT '',
  `other` longtext DEFAULT NULL,
  `balance` double DEFAULT NULL,
  `balance_updated_time` bigint(20) DEFAULT NULL,
  `models` longtext DEFAULT NULL,
  `group` varchar(32) DEFAULT 'default',
  `tag` varchar(32) DEFAULT '',
  `used_quota` bigint(20) DEFAULT 0,
  `model_mapping` text DEFAULT NULL,
  `model_headers` varchar(1024) DEFAULT '',
  `custom_parameter` varchar(1024) DEFAULT '',
  `priority` bigint(20) DEFAULT 0,
  `proxy` varchar(255) DEFAULT '',
  `test_model` varchar(50) DEFAULT '',
  `only_chat` tinyint(1) DEFAULT 0,
  `pre_cost` bigint(20) DEFAULT 1,
  `compatible_response` tinyint(1) DEFAULT 0,
  `allow_extra_body` tinyint(1) DEFAULT 0,
  `disabled_stream` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`disabled_stream`)),
  `plugin` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`plugin`)),
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `idx_channels_name` (`name`),
  KEY `idx_channels_deleted_at` (`deleted_at`)
) ENGINE=InnoDB AUTO_INCREMENT=6 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `channels`
--

LOCK TABLES `channels` WRITE;
/*!40000 ALTER TABLE `channels` DISABLE KEYS */;
INSERT INTO `channels` VALUES
(1,1,'sk-up-1',1,'main',1,1795749679,0,0,'http://127.0.0.1:4010','',0,0,'gpt-4o,gpt-4o-mini,text-embedding-3-small,dall-e-3,whisper-1,unpriced-model','default,vip','',0,'{\"gpt-4o\":\"gpt-4o-2024-11-20\"}','','',10,'','',0,1,0,0,NULL,'{}',NULL),
(2,14,'sk-ant-1',1,'claude',1,1795749679,0,0,'','',0,0,'claude-3-5-sonnet-20241022','default','',0,'','','',0,'','',0,1,0,0,NULL,'{}',NULL),
(3,32,'a|b|c',1,'aws',1,1795749679,0,0,'','',0,0,'claude-3-haiku-20240307','default','',0,'','','',0,'','',0,1,0,0,NULL,'{}',NULL),
(4,1,'sk-up-2',1,'spare',1,1795749679,0,0,'http://127.0.0.1:4011','',0,0,'gpt-4o','default','',0,'','','',1,'','',0,1,0,0,NULL,'{}',NULL),
(5,1,'sk-up-3',2,'off',1,1795749679,0,0,'','',0,0,'gpt-4o','default','',0,'','','',0,'','',0,1,0,0,NULL,'{}',NULL);
/*!40000 ALTER TABLE `channels` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `logs`
--

DROP TABLE IF EXISTS `logs`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `logs` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) DEFAULT NULL,
  `created_at` bigint(20) DEFAULT NULL,
  `type` bigint(20) DEFAULT NULL,
  `content` longtext DEFAULT NULL,
  `username` varchar(191) DEFAULT '',
  `token_name` varchar(191) DEFAULT '',
  `model_name` varchar(191) DEFAULT '',
  `quota` bigint(20) DEFAULT 0,
  `prompt_tokens` bigint(20) DEFAULT 0,
  `completion_tokens` bigint(20) DEFAULT 0,
  `channel_id` bigint(20) DEFAULT NULL,
  `request_time` bigint(20) DEFAULT 0,
  `is_stream` tinyint(1) DEFAULT 0,
  `source_ip` varchar(191) DEFAULT '',
  `metadata` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`metadata`)),
  PRIMARY KEY (`id`),
  KEY `idx_logs_user_id` (`user_id`),
  KEY `idx_created_at_type` (`created_at`,`type`),
  KEY `index_username_model_name` (`model_name`,`username`),
  KEY `idx_logs_token_name` (`token_name`),
  KEY `idx_logs_model_name` (`model_name`),
  KEY `idx_logs_channel_id` (`channel_id`)
) ENGINE=InnoDB AUTO_INCREMENT=9 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `logs`
--

LOCK TABLES `logs` WRITE;
/*!40000 ALTER TABLE `logs` DISABLE KEYS */;
INSERT INTO `logs` VALUES
(1,2,1795749678,3,'管理员将用户额度从 ＄0.000000 额度修改为 ＄10.246914 额度','alice','','',0,0,0,0,0,0,'','null'),
(2,3,1795749678,3,'管理员将用户额度从 ＄0.000000 额度修改为 ＄0.000002 额度','bob','','',0,0,0,0,0,0,'','null'),
(3,4,1795749678,3,'管理员将用户额度从 ＄0.000000 额度修改为 -＄0.500000 额度','carol','','',0,0,0,0,0,0,'','null'),
(4,5,1795749678,3,'管理员将用户额度从 ＄0.000000 额度修改为 ＄0.001554 额度','dave','','',0,0,0,0,0,0,'','null'),
(5,2,1795749681,3,'管理员增减用户额度 ＄10.246914 额度','alice','','',5123457,0,0,0,0,0,'127.0.0.1','null'),
(6,3,1795749681,3,'管理员增减用户额度 ＄0.000002 额度','bob','','',1,0,0,0,0,0,'127.0.0.1','null'),
(7,5,1795749681,3,'管理员增减用户额度 ＄0.001554 额度','dave','','',777,0,0,0,0,0,'127.0.0.1','null'),
(8,4,1795749681,3,'管理员增减用户额度 -＄0.500000 额度','carol','','',-250000,0,0,0,0,0,'127.0.0.1','null');
/*!40000 ALTER TABLE `logs` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `midjourneys`
--

DROP TABLE IF EXISTS `midjourneys`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `midjourneys` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `code` bigint(20) DEFAULT NULL,
  `user_id` bigint(20) DEFAULT NULL,
  `action` varchar(40) DEFAULT NULL,
  `mj_id` varchar(191) DEFAULT NULL,
  `prompt` longtext DEFAULT NULL,
  `prompt_en` longtext DEFAULT NULL,
  `description` longtext DEFAULT NULL,
  `state` longtext DEFAULT NULL,
  `submit_time` bigint(20) DEFAULT NULL,
  `start_time` bigint(20) DEFAULT NULL,
  `finish_time` bigint(20) DEFAULT NULL,
  `image_url` longtext DEFAULT NULL,
  `status` varchar(20) DEFAULT NULL,
  `progress` varchar(30) DEFAULT NULL,
  `fail_reason` longtext DEFAULT NULL,
  `channel_id` bigint(20) DEFAULT NULL,
  `quota` bigint(20) DEFAULT NULL,
  `buttons` longtext DEFAULT NULL,
  `properties` longtext DEFAULT NULL,
  `mode` longtext DEFAULT NULL,
  `token_id` bigint(20) DEFAULT 0,
  PRIMARY KEY (`id`),
  KEY `idx_midjourneys_user_id` (`user_id`),
  KEY `idx_midjourneys_action` (`action`),
  KEY `idx_midjourneys_mj_id` (`mj_id`),
  KEY `idx_midjourneys_submit_time` (`submit_time`),
  KEY `idx_midjourneys_start_time` (`start_time`),
  KEY `idx_midjourneys_finish_time` (`finish_time`),
  KEY `idx_midjourneys_status` (`status`),
  KEY `idx_midjourneys_progress` (`progress`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `midjourneys`
--

LOCK TABLES `midjourneys` WRITE;
/*!40000 ALTER TABLE `midjourneys` DISABLE KEYS */;
/*!40000 ALTER TABLE `midjourneys` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `migrations`
--

DROP TABLE IF EXISTS `migrations`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `migrations` (
  `id` varchar(255) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `migrations`
--

LOCK TABLES `migrations` WRITE;
/*!40000 ALTER TABLE `migrations` DISABLE KEYS */;
INSERT INTO `migrations` VALUES
('202408100001'),
('202408190001'),
('202410300001'),
('202411300002'),
('202504300001'),
('202510160002');
/*!40000 ALTER TABLE `migrations` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `model_info`
--

DROP TABLE IF EXISTS `model_info`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `model_info` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `model` varchar(100) DEFAULT NULL,
  `name` varchar(100) DEFAULT NULL,
  `description` text DEFAULT NULL,
  `context_length` bigint(20) DEFAULT NULL,
  `max_tokens` bigint(20) DEFAULT NULL,
  `input_modalities` text DEFAULT NULL,
  `output_modalities` text DEFAULT NULL,
  `tags` text DEFAULT NULL,
  `support_url` text DEFAULT NULL,
  `created_at` bigint(20) DEFAULT NULL,
  `updated_at` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `idx_model_info_id` (`id`),
  KEY `idx_model_info_model` (`model`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `model_info`
--

LOCK TABLES `model_info` WRITE;
/*!40000 ALTER TABLE `model_info` DISABLE KEYS */;
/*!40000 ALTER TABLE `model_info` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `model_owned_by`
--

DROP TABLE IF EXISTS `model_owned_by`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `model_owned_by` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varchar(100) DEFAULT NULL,
  `icon` text DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `idx_model_owned_by_id` (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=57 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `model_owned_by`
--

LOCK TABLES `model_owned_by` WRITE;
/*!40000 ALTER TABLE `model_owned_by` DISABLE KEYS */;
INSERT INTO `model_owned_by` VALUES
(1,'OpenAI','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/openai.svg'),
(11,'Google PaLM','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/gemini-color.svg'),
(14,'Anthropic','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/claude-color.svg'),
(15,'Baidu','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/wenxin-color.svg'),
(16,'Zhipu','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/zhipu-color.svg'),
(17,'Qwen','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/qwen-color.svg'),
(18,'Spark','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/spark-color.svg'),
(19,'360','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/ai360-color.svg'),
(20,'OpenRouter','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/openrouter.svg'),
(23,'Tencent','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/hunyuan-color.svg'),
(25,'Google Gemini','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/gemini-color.svg'),
(26,'Baichuan','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/baichuan-color.svg'),
(27,'MiniMax','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/minimax-color.svg'),
(28,'Deepseek','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/deepseek-color.svg'),
(29,'Moonshot','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/moonshot.svg'),
(30,'Mistral','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/mistral-color.svg'),
(31,'Groq','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/groq.svg'),
(33,'Yi','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/yi-color.svg'),
(34,'Midjourney','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/midjourney.svg'),
(35,'Cloudflare AI','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/cloudflare-color.svg'),
(36,'Cohere','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/cohere-color.svg'),
(37,'Stability AI','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/stability-color.svg'),
(38,'Coze','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/coze.svg'),
(39,'Ollama','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/ollama.svg'),
(40,'Hunyuan','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/hunyuan-color.svg'),
(41,'Suno','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/suno.svg'),
(43,'Meta','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/meta-color.svg'),
(44,'Ideogram','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/ideogram.svg'),
(45,'Siliconflow','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/siliconcloud-color.svg'),
(46,'Flux','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/flux.svg'),
(47,'Jina','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/jina.svg'),
(48,'Rerank',''),
(51,'RecraftAI','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/recraft.svg'),
(53,'Kling','https://registry.npmmirror.com/@lobehub/icons-static-svg/latest/files/icons/kling-color.svg'),
(56,'xAI','https://registry.npmmirror.com/@lobehub/icons-static-webp/1.24.0/files/light/xai.webp');
/*!40000 ALTER TABLE `model_owned_by` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `options`
--

DROP TABLE IF EXISTS `options`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `options` (
  `key` varchar(191) NOT NULL,
  `value` longtext DEFAULT NULL,
  PRIMARY KEY (`key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `options`
--

LOCK TABLES `options` WRITE;
/*!40000 ALTER TABLE `options` DISABLE KEYS */;
INSERT INTO `options` VALUES
('OldTokenMaxId','0');
/*!40000 ALTER TABLE `options` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `orders`
--

DROP TABLE IF EXISTS `orders`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `orders` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) DEFAULT NULL,
  `gateway_id` bigint(20) DEFAULT NULL,
  `trade_no` varchar(50) DEFAULT NULL,
  `gateway_no` varchar(100) DEFAULT NULL,
  `amount` bigint(20) DEFAULT 0,
  `order_amount` decimal(10,2) DEFAULT 0.00,
  `order_currency` varchar(16) DEFAULT NULL,
  `quota` bigint(20) DEFAULT 0,
  `fee` decimal(10,2) DEFAULT 0.00,
  `discount` decimal(10,2) DEFAULT 0.00,
  `status` varchar(32) DEFAULT NULL,
  `created_at` bigint(20) DEFAULT NULL,
  `updated_at` bigint(20) DEFAULT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `idx_orders_trade_no` (`trade_no`),
  KEY `idx_orders_deleted_at` (`deleted_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `orders`
--

LOCK TABLES `orders` WRITE;
/*!40000 ALTER TABLE `orders` DISABLE KEYS */;
/*!40000 ALTER TABLE `orders` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `payments`
--

DROP TABLE IF EXISTS `payments`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `payments` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `type` varchar(16) DEFAULT NULL,
  `uuid` char(32) DEFAULT NULL,
  `name` varchar(255) NOT NULL,
  `icon` varchar(300) DEFAULT NULL,
  `notify_domain` varchar(300) DEFAULT NULL,
  `fixed_fee` decimal(10,2) DEFAULT 0.00,
  `percent_fee` decimal(10,2) DEFAULT 0.00,
  `currency` varchar(5) DEFAULT NULL,
  `config` text DEFAULT NULL,
  `sort` bigint(20) DEFAULT 1,
  `enable` tinyint(1) DEFAULT 1,
  `created_at` bigint(20) DEFAULT NULL,
  `updated_at` bigint(20) DEFAULT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `idx_payments_uuid` (`uuid`),
  KEY `idx_payments_deleted_at` (`deleted_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `payments`
--

LOCK TABLES `payments` WRITE;
/*!40000 ALTER TABLE `payments` DISABLE KEYS */;
/*!40000 ALTER TABLE `payments` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `prices`
--

DROP TABLE IF EXISTS `prices`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `prices` (
  `model` varchar(100) DEFAULT NULL,
  `type` varchar(191) DEFAULT 'tokens',
  `channel_type` bigint(20) DEFAULT 0,
  `input` double DEFAULT 0,
  `output` double DEFAULT 0,
  `locked` tinyint(1) DEFAULT 0,
  `extra_ratios` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`extra_ratios`))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `prices`
--

LOCK TABLES `prices` WRITE;
/*!40000 ALTER TABLE `prices` DISABLE KEYS */;
INSERT INTO `prices` VALUES
('text-embedding-3-small','tokens',1,0.01,0.01,0,NULL),
('dall-e-3','tokens',1,20,20,0,NULL),
('gpt-4o','tokens',1,2.5,7.5,0,NULL);
/*!40000 ALTER TABLE `prices` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `redemptions`
--

DROP TABLE IF EXISTS `redemptions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `redemptions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) DEFAULT NULL,
  `key` char(32) DEFAULT NULL,
  `status` bigint(20) DEFAULT 1,
  `name` varchar(191) DEFAULT NULL,
  `quota` bigint(20) DEFAULT 100,
  `created_time` bigint(20) DEFAULT NULL,
  `redeemed_time` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `idx_redemptions_key` (`key`),
  KEY `idx_redemptions_name` (`name`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `redemptions`
--

LOCK TABLES `redemptions` WRITE;
/*!40000 ALTER TABLE `redemptions` DISABLE KEYS */;
INSERT INTO `redemptions` VALUES
(1,1,'22661129019a41848121941478745afa',1,'codes',100,1795749679,0),
(2,1,'8b3695750f45454c9f1b9e36d4ef7962',1,'codes',100,1795749679,0);
/*!40000 ALTER TABLE `redemptions` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `statistics`
--

DROP TABLE IF EXISTS `statistics`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `statistics` (
  `date` date NOT NULL,
  `user_id` bigint(20) NOT NULL,
  `channel_id` bigint(20) NOT NULL,
  `model_name` varchar(255) NOT NULL,
  `request_count` bigint(20) DEFAULT NULL,
  `quota` bigint(20) DEFAULT NULL,
  `prompt_tokens` bigint(20) DEFAULT NULL,
  `completion_tokens` bigint(20) DEFAULT NULL,
  `request_time` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`date`,`user_id`,`channel_id`,`model_name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `statistics`
--

LOCK TABLES `statistics` WRITE;
/*!40000 ALTER TABLE `statistics` DISABLE KEYS */;
/*!40000 ALTER TABLE `statistics` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tasks`
--

DROP TABLE IF EXISTS `tasks`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `tasks` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` bigint(20) DEFAULT NULL,
  `updated_at` bigint(20) DEFAULT NULL,
  `task_id` varchar(50) DEFAULT NULL,
  `platform` varchar(30) DEFAULT NULL,
  `user_id` bigint(20) DEFAULT NULL,
  `channel_id` bigint(20) DEFAULT NULL,
  `quota` bigint(20) DEFAULT NULL,
  `action` varchar(40) DEFAULT NULL,
  `status` varchar(20) DEFAULT NULL,
  `fail_reason` longtext DEFAULT NULL,
  `submit_time` bigint(20) DEFAULT NULL,
  `start_time` bigint(20) DEFAULT NULL,
  `finish_time` bigint(20) DEFAULT NULL,
  `progress` bigint(20) DEFAULT NULL,
  `properties` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`properties`)),
  `data` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`data`)),
  `notify_hook` longtext DEFAULT NULL,
  `token_id` bigint(20) DEFAULT 0,
  PRIMARY KEY (`id`),
  KEY `idx_tasks_created_at` (`created_at`),
  KEY `idx_tasks_task_id` (`task_id`),
  KEY `idx_tasks_platform` (`platform`),
  KEY `idx_tasks_user_id` (`user_id`),
  KEY `idx_tasks_channel_id` (`channel_id`),
  KEY `idx_tasks_action` (`action`),
  KEY `idx_tasks_status` (`status`),
  KEY `idx_tasks_submit_time` (`submit_time`),
  KEY `idx_tasks_start_time` (`start_time`),
  KEY `idx_tasks_finish_time` (`finish_time`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tasks`
--

LOCK TABLES `tasks` WRITE;
/*!40000 ALTER TABLE `tasks` DISABLE KEYS */;
/*!40000 ALTER TABLE `tasks` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `telegram_menus`
--

DROP TABLE IF EXISTS `telegram_menus`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `telegram_menus` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `command` varchar(32) DEFAULT NULL,
  `description` varchar(255) DEFAULT '',
  `parse_mode` varchar(255) DEFAULT 'MarkdownV2',
  `reply_message` longtext DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `idx_telegram_menus_command` (`command`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `telegram_menus`
--

LOCK TABLES `telegram_menus` WRITE;
/*!40000 ALTER TABLE `telegram_menus` DISABLE KEYS */;
/*!40000 ALTER TABLE `telegram_menus` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `tokens`
--

DROP TABLE IF EXISTS `tokens`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `tokens` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) DEFAULT NULL,
  `key` varchar(59) DEFAULT NULL,
  `status` bigint(20) DEFAULT 1,
  `name` varchar(191) DEFAULT NULL,
  `created_time` bigint(20) DEFAULT NULL,
  `accessed_time` bigint(20) DEFAULT NULL,
  `expired_time` bigint(20) DEFAULT -1,
  `remain_quota` bigint(20) DEFAULT 0,
  `unlimited_quota` tinyint(1) DEFAULT 0,
  `used_quota` bigint(20) DEFAULT 0,
  `group` varchar(191) DEFAULT '',
  `backup_group` varchar(191) DEFAULT '',
  `deleted_at` datetime(3) DEFAULT NULL,
  `setting` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`setting`)),
  PRIMARY KEY (`id`),
  UNIQUE KEY `idx_tokens_key` (`key`),
  KEY `idx_tokens_name` (`name`),
  KEY `idx_tokens_deleted_at` (`deleted_at`)
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `tokens`
--

LOCK TABLES `tokens` WRITE;
/*!40000 ALTER TABLE `tokens` DISABLE KEYS */;
INSERT INTO `tokens` VALUES
(1,2,'XMbTbzBOmPYGHgL_oIdte6Dr7cfD97OlozMiAwY0w415xTJLl58GxXuMGRI',1,'open',1795749679,1795749679,-1,0,1,0,'','',NULL,'{\"heartbeat\":{\"enabled\":false,\"timeout_seconds\":30},\"limits\":{\"limit_model_setting\":{\"enabled\":false,\"models\":[]},\"limits_ip_setting\":{\"enabled\":false,\"whitelist\":[]}}}'),
(2,2,'4tOplIoAizKHPhj_YaUNwYwMhbT-UZL1Eo-lHGILJof9Yw8O-LD6B7ylzDI',1,'limited',1795749679,1795749679,1827285679,1000000,0,0,'','',NULL,'{\"heartbeat\":{\"enabled\":false,\"timeout_seconds\":30},\"limits\":{\"limit_model_setting\":{\"enabled\":true,\"models\":[\"gpt-4o\",\"gpt-4o-mini\"]},\"limits_ip_setting\":{\"enabled\":true,\"whitelist\":[\"127.0.0.0/8\",\"10.1.2.3\"]}}}'),
(3,2,'A6sz1HQ6DpsIjwn_06KaLeMJaUMoUKUzQqhWxyThfWMLp4g0UT-4gDe1pxE',2,'off',1795749679,1795749679,-1,10,0,0,'','',NULL,'{\"heartbeat\":{\"enabled\":false,\"timeout_seconds\":30},\"limits\":{\"limit_model_setting\":{\"enabled\":false,\"models\":[]},\"limits_ip_setting\":{\"enabled\":false,\"whitelist\":[]}}}'),
(4,2,'JSazEOuLlYb3jHC_DLNtWEkmkHYJdvZ12WGNSjEfJ5PSST6_uRg2FcZ22-s',1,'empty',1795749679,1795749679,-1,0,0,0,'','',NULL,'{\"heartbeat\":{\"enabled\":false,\"timeout_seconds\":30},\"limits\":{\"limit_model_setting\":{\"enabled\":false,\"models\":[]},\"limits_ip_setting\":{\"enabled\":false,\"whitelist\":[]}}}'),
(5,2,'Ke5FQHOhpNb9tnL_GOLRbwnEid3qYKhN36EezQc0oKvJ0XsFGD8eMC6GK0s',1,'gone',1795749679,1795749679,-1,0,1,0,'','','2026-11-27 11:21:19.270','{\"heartbeat\":{\"enabled\":false,\"timeout_seconds\":30},\"limits\":{\"limit_model_setting\":{\"enabled\":false,\"models\":[]},\"limits_ip_setting\":{\"enabled\":false,\"whitelist\":[]}}}'),
(6,3,'0aT3ta10w9tTHQU_r5FA1y0CFFbkLE476hQJqveDBJhX7r7kkWvH91K203k',1,'bobs',1795749679,1795749679,-1,0,1,0,'','',NULL,'{\"heartbeat\":{\"enabled\":false,\"timeout_seconds\":30},\"limits\":{\"limit_model_setting\":{\"enabled\":false,\"models\":[]},\"limits_ip_setting\":{\"enabled\":false,\"whitelist\":[]}}}');
/*!40000 ALTER TABLE `tokens` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `user_groups`
--

DROP TABLE IF EXISTS `user_groups`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `user_groups` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `symbol` varchar(50) DEFAULT NULL,
  `name` varchar(50) DEFAULT NULL,
  `ratio` decimal(10,2) DEFAULT 1.00,
  `api_rate` bigint(20) DEFAULT 600,
  `public` tinyint(1) DEFAULT 0,
  `promotion` tinyint(1) DEFAULT 0,
  `min` bigint(20) DEFAULT 0,
  `max` bigint(20) DEFAULT 0,
  `enable` tinyint(1) DEFAULT 1,
  PRIMARY KEY (`id`),
  UNIQUE KEY `idx_user_groups_symbol` (`symbol`)
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `user_groups`
--

LOCK TABLES `user_groups` WRITE;
/*!40000 ALTER TABLE `user_groups` DISABLE KEYS */;
INSERT INTO `user_groups` VALUES
(1,'svip','svip分组',1.00,600,0,0,0,0,1),
(2,'default','默认分组',1.00,600,1,0,0,0,1),
(3,'vip','vip分组',0.90,600,0,0,0,0,1);
/*!40000 ALTER TABLE `user_groups` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `users`
--

DROP TABLE IF EXISTS `users`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `users` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `username` varchar(191) DEFAULT NULL,
  `password` longtext NOT NULL,
  `display_name` varchar(191) DEFAULT NULL,
  `role` bigint(20) DEFAULT 1,
  `status` bigint(20) DEFAULT 1,
  `email` varchar(191) DEFAULT NULL,
  `avatar_url` varchar(500) DEFAULT '',
  `oidc_id` varchar(191) DEFAULT NULL,
  `github_id` varchar(191) DEFAULT NULL,
  `github_id_new` bigint(20) DEFAULT NULL,
  `wechat_id` varchar(191) DEFAULT NULL,
  `telegram_id` bigint(20) DEFAULT 0,
  `lark_id` varchar(191) DEFAULT NULL,
  `access_token` char(32) DEFAULT NULL,
  `quota` bigint(20) DEFAULT 0,
  `used_quota` bigint(20) DEFAULT 0,
  `request_count` bigint(20) DEFAULT 0,
  `group` varchar(32) DEFAULT 'default',
  `aff_code` varchar(32) DEFAULT NULL,
  `aff_count` bigint(20) DEFAULT 0,
  `aff_quota` bigint(20) DEFAULT 0,
  `aff_history` bigint(20) DEFAULT 0,
  `inviter_id` bigint(20) DEFAULT NULL,
  `last_login_time` bigint(20) DEFAULT 0,
  `last_login_ip` varchar(128) DEFAULT '',
  `created_time` bigint(20) DEFAULT NULL,
  `deleted_at` datetime(3) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `idx_users_access_token` (`access_token`),
  UNIQUE KEY `idx_users_aff_code` (`aff_code`),
  UNIQUE KEY `uni_users_username` (`username`),
  KEY `idx_users_username` (`username`),
  KEY `idx_users_display_name` (`display_name`),
  KEY `idx_users_email` (`email`),
  KEY `idx_users_oidc_id` (`oidc_id`),
  KEY `idx_users_git_hub_id` (`github_id`),
  KEY `idx_users_git_hub_id_new` (`github_id_new`),
  KEY `idx_users_we_chat_id` (`wechat_id`),
  KEY `idx_users_lark_id` (`lark_id`),
  KEY `idx_users_inviter_id` (`inviter_id`),
  KEY `idx_users_deleted_at` (`deleted_at`)
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `users`
--

LOCK TABLES `users` WRITE;
/*!40000 ALTER TABLE `users` DISABLE KEYS */;
INSERT INTO `users` VALUES
(1,'root','$2a$10$icpLFSMfLmEelghrt6WQYOGbVf0MNTCI/A1x6.jCXeMFDkFS8xl2u','Root User',100,1,'','','','',0,'',0,'','6a584453a6c3430f9f0071027ff7b7ab',100000000,0,0,'default','',0,0,0,0,1795749681,'127.0.0.1',0,NULL),
(2,'alice','$2a$10$Jt/TArF/CKvZZQutydRFFO5ZFmBB.5KfaZ2RJ2lSBl4lQQAXnG6ce','Alice O\'Hara',1,1,'alice@example.com','','','',0,'',0,'','7f51980b62b04689b94a6a8e125db630',5123457,0,0,'vip','gfR6',0,0,0,0,1795749679,'127.0.0.1',1795749677,NULL),
(3,'bob','$2a$10$DWcG5P6rCYYZ4NH.C.weG.ui6z.9MupPeN3h8IDkNazFo7LzdsnQm','Боб',1,1,'bob@example.com','','','',0,'',0,'','e666dea4e656457c9f6bca065ce233c5',1,0,0,'default','wfbv',0,0,0,0,1795749679,'127.0.0.1',1795749677,NULL),
(4,'carol','$2a$10$AA53WQHg/J8iLbZGNRUcm.4Te96X934E4Q6plH.2I8YvevBLdEUBO','Carol\\n\"x\"',1,1,'','','','',0,'',0,'','c5972f7cf5314e34be208b5093e3c201',-250000,0,0,'default','BIys',0,0,0,0,0,'',1795749677,NULL),
(5,'dave','$2a$10$rR6M9kNRzgecJYL2Gn.dZ.tSEoVrxXfZ2mtV8vXAs8f2lKP2UXLdu','Dave',1,2,'','','','',0,'',0,'','98bf067d64ec4a2e894f43545eb1426d',777,0,0,'default','sH2C',0,0,0,0,0,'',1795749678,NULL),
(6,'_del_DmklS0','$2a$10$FdvYoP/vNFkBkSGHMLF2K.OUqBsv9TOrWXZxy1ANMLaolAfVRpcQm','Erin',1,1,'','','','',0,'',0,'','5f278d8df9264301b8b5626828c2ae91',0,0,0,'default','ACdv',0,0,0,0,0,'',1795749678,'2026-11-27 11:21:19.736');
/*!40000 ALTER TABLE `users` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `webauthn_credentials`
--

DROP TABLE IF EXISTS `webauthn_credentials`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `webauthn_credentials` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) DEFAULT NULL,
  `credential_id` varbinary(255) DEFAULT NULL,
  `public_key` longblob DEFAULT NULL,
  `attestation_type` longtext DEFAULT NULL,
  `alias` varchar(255) DEFAULT '',
  `backup_eligible` tinyint(1) DEFAULT 0,
  `backup_state` tinyint(1) DEFAULT 0,
  `aa_guid` longblob DEFAULT NULL,
  `sign_count` int(10) unsigned DEFAULT NULL,
  `clone_warning` tinyint(1) DEFAULT NULL,
  `attachment` longtext DEFAULT NULL,
  `created_time` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uni_webauthn_credentials_credential_id` (`credential_id`),
  KEY `idx_webauthn_credentials_user_id` (`user_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `webauthn_credentials`
--

LOCK TABLES `webauthn_credentials` WRITE;
/*!40000 ALTER TABLE `webauthn_credentials` DISABLE KEYS */;
/*!40000 ALTER TABLE `webauthn_credentials` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed on 2026-11-27  3:21:29
