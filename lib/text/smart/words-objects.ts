// What a request wants to get: everyday texts, long ones, code, small answers. Notation as in words-tasks.ts.

export const OBJECT_WORDS = {
  content: `
    email* e_mail mail letter* post posts caption* tweet* ad ads advert* description* story stories tale* fairy_tale
    poem* poetry haiku* sonnet* limerick* song* lyrics lullab* verse* recipe* speech toast joke* pun puns message* msg
    text_message sms reply response invitation* greeting* wish wishes card bio biograph* profile resume* cv
    cover_letter note notes announcement* newsletter* press_release flyer* brochure* slogan* tagline* motto* name_ideas
    names_for dialogue* dialog conversation monologue* scene scenario skit sketch diary journal review_of testimonial*
    complaint* apolog* quiz questionnaire survey interview_questions faq agenda itinerar* menu meal_plan workout
    training_plan routine schedule lesson_plan checklist instruction* how_to_guide horoscope* prayer* fable* legend*
    myth riddle* ode rap pitch elevator_pitch podcast voiceover landing_copy copy copywriting headline* subject_line*
    title hashtags playlist paragraph* outline infographic slide* presentation* flashcard* worksheet* prompt prompts
    character_description backstory world_building advertisement* memo statement testimonial letter_of_recommendation
    recommendation_letter reference_letter eulogy obituary vows postcard письм* имейл* емейл* мейл* пост поста посты
    постов постик описани* сказк* сказочк* рассказ рассказа рассказик истори+ историю стих стихи стихотвор* стишок
    стихах четверостиш* частушк* басн* песн* песенк* рецепт* тост тоста реклам* объявлени* поздравл* поздравить
    открытк* отзыв* слоган* девиз* нейминг* сценари* скетч* диалог* монолог* резюме приглашени* приветств* анонс*
    новост* рассылк* сторис* сториз* рилс* анкет* опрос* викторин* тест план плана плане маршрут* меню рацион*
    расписани* график_тренировок тренировк* программ+_тренировок чек_лист* чеклист* инструкц* памятк* жалоб* претензи*
    заявлени* обращени* извинени* благодарност* отказ* ответ ответа сообщени* смс текст+ текстовк* абзац* заголов*
    хештег* биограф* автобиограф* о_себе о_компании био анекдот* шутк* загадк* гороскоп* тост* речь речи речью
    напутств* прощальн* конкурс* игр+_для_детей мемуар* дневник* фанфик* легенд* миф мифа презентаци* слайд* визитк*
    карточк+_товара карточку_товара ваканси* коммерческ+_предложен* кп оффер* характеристик+ рекомендательн+
    сопроводительн+ мотивационн+ пресс_релиз* автоответчик* озвучк* тизер* подпис* тегл* имейл_рассылк* поэм* притч*
    сюжет* синопсис* конспект_урока план_урока план_конспект вопрос+_для_интервью тамад* некролог* эпиграф* протокол*
    character persona обязанност* персонаж* героя герой logo логотип* poster постер* плакат* афиш* banner баннер*
    обложк* meme memes куплет* припев* каламбур* пожелани* посвящени* рекламк* листовк* буклет* флаер* питч*
    самопрезентаци* бриф скрипт_продаж скрипт_звонка comeback pickup_line pick_up_line pickup_lines knock_knock
    thank_you_note thank_you_letter thank_you_card thank_you_email thank_you_message thank_you_speech
    слова_благодарности автоответ* объяснительн* recall_notice notice product_recall acrostic anecdote affirmation*
    apology blurb cartoon catchphrase chant comic farewell fan_fiction fanfic inscription interview introduction jingle
    leaflet listing logline love_letter manifesto mantra meditation mission_statement vision_statement nursery_rhyme
    opener parody pep_talk petition preface prologue epilogue proverb quote quotes rhyme roast self_introduction sermon
    sitcom storyline template thread tongue_twister trailer trivia welcome_message yearbook_quote crossword
    scavenger_hunt comparison_text packing_list shopping_list to_do_list todo_list bucket_list bedtime_routine
    evening_routine wedding_invitation voicemail акростих* афоризм* баллад* былин* верлибр* вступлени* доверенност*
    докладн* заметк* записк* интервью интро кричалк* колыбельн* лимерик* мантр* миниатюр* напоминани* отговорк*
    оправдани* пароди* повестк* послани* предислови* признани* приказ+ примет+ пролог* эпилог* расписк* распоряжени*
    речевк* рэп сатир* скороговорк* служебк* служебн+_записк* соболезновани* справк* статус* сценк* считалк* телеграмм*
    трейлер* уведомлени* фельетон* хокку хайку танка юмореск* эпиграмм* эпитафи* концовк* завязк* цикл_стихов
    цикл_хокку dinner lunch breakfast dessert supper snack salad soup dish meal sandwich smoothie cocktail appetizer
    ужин+ завтрак* обед+ десерт* салат* суп супа супчик блюд* закуск* коктейл* смузи выпечк* пирог* торт* начинк* соус*
    маринад* гарнир* перекус* сырник* блин* оладь* шашлык* сценарн* лозунг* кредо плейлист* подборк*
    программ+_мероприятия программ+_праздника поздравительн* резюмешк* самооценк* представлени+_на ходатайств*
    апелляци* исков* заявлен* служебн* тезис* реплик* шпаргалк* сочинение_описание изложени* кроссворд* ребус* квест*
    квиз* лор персонажа анкета glossary headlines captions bedtime_story ghost_story fairytale folktale campfire_story
    stage_play comic_strip character_profile plot plots subplot twist cliffhanger hook hooks call_to_action cta
    value_proposition brand_story about_us cold_email follow_up_email sales_email welcome_email press_statement
    refund_request complaint_letter resignation_letter reference offer_letter rejection_letter meeting_agenda
    slack_message performance_review self_evaluation peer_feedback job_ad job_description job_posting dating_profile
    wedding_speech graduation_speech quiz_on study_plan study_guide reading_list workout_routine diet_plan grocery_list
    travel_itinerary сцен+ список_изменений changelog release_notes user_stor* alt_text meta_description
    пользовательск+_истори* мета_описани* расклад* таро tarot прожарк* acceptance_criteria pull_request_description
    linkedin_headline resume_bullets bullet_points_for cheat_sheet cheatsheet mnemonic мнемоник* дисклеймер* disclaimer
    privacy_notice about_page contact_page faq_page product_page email_signature подпис+_к_письму out_of_office
    voicemail_greeting table_of_contents оглавлени* subtitle subtitles credits dedication инфоповод* сторителлинг
    лид_абзац лид+ врезк* аннотаци* рекламн+_текст продающ+_текст серия_постов серию_постов карусел* carousel
    ответ_на_отзыв благодарственн* рекомендаци+_письм* правила_поведения rules_for code_of_conduct кличк* отмазк*
    excuse excuses подарок alibi alibis meeting_minutes
  `,
  essay: `
    essay* article* report* blog blog_post* guide handbook tutorial* case_study editorial op_ed feature review_article
    content_plan content_strategy proposal grant curriculum syllabus course training_program user_manual manual
    documentation эссе статья статью статьи статей статье блог* отчет* доклад* сочинени* гайд* руководств* туториал*
    методичк* контент_план* обзор* обзорн+_стат* программ+_курса программ+_обучения учебн+_программ* курс курса
    манифест* колонк* очерк* пособи* регламент* положение_о должностн+_инструкц* устав+ документаци* кейс лекци*
    lecture методическ* брошюр* исследовательск+_работ* newspaper_column opinion_column
  `,
  long: `
    novel* novella* chapter* thesis dissertation* term_paper* research_paper* literature_review whitepaper*
    white_paper* ebook* e_book screenplay* book memoir business_plan* course_work coursework master_s monograph*
    longread* long_read pillar_page technical_specification specification product_requirements prd rfc ultimate_guide
    complete_guide comprehensive_guide роман роман_на глав+ курсов* дипломн* диплом диссертац* реферат* монограф*
    лонгрид* книг+ книгу киносценари* пьес* бизнес_план* техническ+_задани* техзадани* тз вкр научн+_стат*
    научную_статью эпопе* сценарий_фильма сценарий_короткометраж* полный_гайд подробный_гайд white_paper_on
    исчерпывающ+_руководств* novel_length повесть повести повестью agreement non_disclosure_agreement nda
    employment_contract lease_agreement terms_of_service rental_contract service_contract договор договора
    strategic_plan стратегическ+_план* operations_manual annual_report годов+_отчет*
  `,
  code: `
    function functions script scripts source_code code codes snippet* subroutine query queries sql_query regex* regexp*
    regular_expression* unit_test* test_case* integration_test* endpoint* api apis rest_api crawler scraper parser
    compiler interpreter cli web_app html_page landing_page algorithm* data_structure* macro macros vba dockerfile
    docker_compose makefile workflow_file json_schema openapi swagger migration middleware reducer backend frontend
    back_end front_end stored_procedure trigger shader formula_in_excel excel_formula google_sheets_formula
    spreadsheet_formula userscript binary_search linked_list binary_tree hash_map hash_table sorting_algorithm
    quicksort mergesort bubble_sort fibonacci lru_cache cache_class json_parser todo_app crud smart_contract ci_cd
    github_action* config_file yaml_config cron_job decorator iterator функци+ функцию функцией скрипт* исходник*
    исходный_код код кода коде кодом кодик сниппет* подпрограмм* регулярк* регулярн+_выражен* юнит_тест* модульн+_тест*
    тест_кейс* автотест* эндпоинт* ручк+_апи апи телеграм_бот* телеграмм_бот* чат_бот* чатбот* парсер* компилятор*
    интерпретатор* верстк* алгоритм* структур+_данных макрос* хранимк* хранимую_процедур* бэкенд* бекенд* фронтенд*
    формул+_в_excel формул+_excel формул+_в_эксел* формул+_для_эксел* формул+_для_excel гугл_таблиц* пузырьков*
    быстр+_сортировк* связн+_список связанный_список двоичн+_поиск бинарн+_поиск бинарн+_дерев* дерево_поиска
    хеш_таблиц* микросервис* смарт_контракт* калькулятор_на игр+_на змейк* json_схем* схему_json спецификаци+
    спецификацию_api openapi_спецификац* sql_запрос* запрос_sql игр+_змейк* крестики_нолики снейк юнит_тесты докерфайл*
    one_line_command caddyfile jenkinsfile crontab pseudocode псевдокод* дескриптор* dataclass датакласс* struct
    typedef mock_object gui_application command_line терминал* консольн+_приложени* консольн+_программ* валидатор*
    сериализатор* контроллер* роутер* хендлер* handler* миддлвар* middleware* эндпойнт* свагер* postman html_email
    html_newsletter html_template html_signature html_table html_form playbook* плейбук* краулер* migration* миграци*
    cli_tool веб_краулер* скрейпер* sql_schema схем+_sql декоратор* decorator* декоратора генератор_функц* итератор*
    сортировщик* сервис_на микросервис_на хук_для utility_function helper_function one_liner_to one_liner_for
    one_liner_that односвязн* двусвязн* without_using_built_in built_in_sort built_in_function* without_built_in
    без_встроенн* триггер триггеры
  `,
  software: `
    class classes method apps app application bot chatbot program module package library extension website web_site
    site web_page webpage server template_engine plugin sdk pipeline* schema hook game_in calculator_app query_that
    приложени* веб_сайт* сайт сайта сайтик бот бота ботик модуль модуля класс класса классы метод метода сервер
    на_сервере прог+ программк* программу программа расширени+_для плагин* библиотек+_для конфиг* пайплайн* компонент*
    component* лендинг* запрос запроса сортировк* simulation simulator emulator симуляци* симулятор* эмулятор*
    сайт_визитк* сайт_визитку
  `,
  media: `
    video videos radio film movie podcast youtube tiktok commercial spot scene reel reels phone_call sales_call
    cold_call stand_up theatre shorts explainer ролик* видео видеоролик* фильм* подкаст* радио рилс* тикток* ютуб*
    спектакл* театр*
  `,
  micro: `
    word words sentence sentences phrase one_word one_sentence single_sentence number numbers digit password emoji
    emojis color letter_grade slogan_of слово слова словосочетани* предложени* фраз* одно_предложение число числа цифр*
    пароль эмодзи смайл* пример букв* verb verbs noun nouns adjective* adverb* preposition* pronoun* subject_of
    predicate clause syllable* vowel* consonant* prefix suffix tense idiom glyph stanza_number глагол* существительн*
    прилагательн* предлог* местоимени* подлежащ* сказуем* слог+ приставк* суффикс* артикль союз гласн* согласн* скобк*
    форму пропуск* alphabet алфавит* random случайн* числа_от numbers_from digits question вопрос номер function_name
    variable_name class_name method_name имя_функции имя_переменной название_функции название_переменной
  `,
  ideas: `
    ideas idea names tips suggestions questions topics activities ways examples strategies reasons gifts titles
    questions_about options things_to recommendations hobbies games идеи идей названия названий советы советов вопросы
    вопросов темы тем варианты вариантов способы способов упражнени* занятий активност* подарк* примеры примеров
    причин причины аргумент* рекомендаци* конкурсы игры theme topic тема тему названи* имена username nickname
    headline никнейм* ник заголовок argument arguments довод* подарок кличк*
  `,
  format: `
    table list bullet bullets bullet_points csv markdown json yaml xml html_table json_array spreadsheet array
    таблиц* таблиц+ список списка пункт* маркирован* csv_файл json_объект джейсон* джсон* md_таблиц* буллет*
  `,
  json: `
    json jsonl yaml xml json_object json_schema valid_json json_array toml xsd protobuf csv джейсон* джсон*
    json_схем* строго_json schema_json output_format output_schema response_format формат_ответа
  `,
  strategy: `
    strategy strategies roadmap go_to_market market_analysis market_research swot business_model business_case
    financial_model* unit_economics kpi kpis okr okrs revenue_model risk_analysis risk_assessment risk_management
    feasibility competitor* competitive investment_thesis marketing_plan marketing_strategy growth_strategy
    monetization action_plan policy framework methodology стратеги* роадмап* дорожн+_карт* анализ_рынк* рынк*
    бизнес_модел* финансов+_модел* финмодел* юнит_экономик* кпи риск* конкурент* маркетингов+_план*
    маркетингов+_стратег* план_продвижения план_развития монетизаци* политик+ концепци* концепт* методологи*
    систем+_мотивации мотивационн+_систем* инвестиционн* окупаем* рентабельн* безубыточн* воронк* конверси* ltv cac
    маржинальн* gdpr гдпр 152_фз compliance комплаенс* target_segment* positioning channel_mix budget_split сегмент*
    позиционирован* вложени* окупаемост* расходы выручк* discounted_cash_flow dcf cash_flow valuation
    financial_projection* due_diligence hedge portfolio_allocation capital_structure litigation_strategy
    migration_strategy data_strategy retention_policy privacy_policy go_live cost_drivers decision_framework
    денежн+_поток* дебиторк* дебиторск* ликвидност* оборотн+_капитал* себестоимост* маржинальност* бюджетирован*
    методик* политик+_обработки mrr arr churn arpu arpa burn_rate отток* средн+_чек маржа gross_margin break_even
    start_up_capital startup_capital capital_expenditure точк+_безубыточности стартов+_капитал policy_brief
    аналитическ+_записк* cost_benefit затрат_и_выгод
  `,
  criteria: `
    criteria criterion consider considering trade_offs trade_off tradeoffs tradeoff factors aspects perspectives
    dimensions implications weighted decision_matrix scenarios prioritize prioritise recommend_one justify
    hypotheses hypothesis counterarguments evidence short_and_long mitigat* limitations assumptions sensitivity
    критери* критериям учитывая с_учетом учти учесть факторы факторов аспект* взвеш* сценари+_с_вероятн* ранжир*
    приорит* обоснуй* обоснован* аргументир* гипотез* контраргумент* доказательств* последстви* ограничени*
    допущени* предпосыл* рекомендации_и со_всех_сторон с_разных_сторон краткосрочн* долгосрочн* компромисс*
    варианты_решения judge_them historical_parallel* итогов+_рекомендаци* рекомендацией чувствительност* сценариев
    сценарии_оборота
  `,
  plan: `
    plan itinerary schedule routine day_trip meal_plan workout_plan training_plan program plan_for план плана
    маршрут* график* расписани* распорядок программ+_тренировок
  `,
  feature: `
    full_length полнометраж* feature_length novel_length book_length
  `,
  piece: `
    line lines line_break* row rows space spaces symbol* character characters columns hashtags names dates emails
    numbers строк* перенос* пробел* символ* знак+ дубл* повтор* инициал* имена имен
  `,
  spoken: `
    speech talk keynote lecture film movie screenplay podcast episode presentation radio play речь речи доклад*
    выступлени* лекци* фильм* короткометраж* подкаст* эпизод* спектакл* радиоспектакл* радио экскурси* sitcom
    episode_of ситком* серии серию сериала
  `,
} as const;
