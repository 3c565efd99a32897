// What programming is told by: its languages, its tools, its faults, the way its problems are put. Notation as in words-tasks.ts.

export const PROGRAMMING_WORDS = {
  language: `
    python python3 javascript typescript java kotlin golang go_lang in_go на_go rust swift php ruby perl scala haskell
    elixir erlang clojure csharp cpp objective_c in_c на_си matlab julia_language fortran cobol lua dart r_language
    in_r assembly assembler bash powershell shell_script zsh sql mysql postgres* postgresql sqlite plsql tsql html
    html5 css css3 scss sass js ts jsx tsx vba solidity pascal delphi basic_program visual_basic питон* пайтон* джава
    джаве джаву джаваскрипт* джава_скрипт* яваскрипт* тайпскрипт* котлин* голанг* раст_на на_rust паскал* делфи
    на_плюсах плюсах на_сишк* сишарп* 1с 1c эскуэль ассемблер* баш_скрипт* excel эксел* google_sheets гугл_таблиц*
    latex tikz bibtex plantuml mermaid graphviz ocaml fsharp nim zig racket lisp prolog abap groovy vbnet tcl smalltalk
    coffeescript cypher sparql autohotkey ahk applescript gdscript vyper pinescript pine_script mql4 mql5 окамл*
    пролог_программ* хаскел* эрланг* mariadb mssql sql_server plpgsql htmx makefile_target bat_file batch_file vbscript
    autoit sas_code stata_do spss_syntax octave mathematica wolfram_language arduino_sketch шарп шарпе шарпах плюсы_код
    сишк* юнити3d
  `,
  tech: `
    react reactjs vue vuejs angular svelte nextjs next_js nuxt node nodejs node_js deno express_js expressjs nestjs
    django flask fastapi spring spring_boot springboot laravel symfony rails ruby_on_rails asp_net dotnet net_core
    jquery bootstrap tailwind webpack vite babel redux graphql grpc websocket* webhook* rest_endpoint oauth oauth2 jwt
    cors docker docker_compose kubernetes k8s helm terraform ansible jenkins nginx apache_server linux ubuntu debian
    systemd cron git github gitlab bitbucket rebase commit_hash merge_conflict mongodb mongo redis kafka rabbitmq
    elasticsearch clickhouse cassandra dynamodb snowflake_db spark hadoop airflow pandas numpy scipy sklearn scikit
    tensorflow pytorch keras huggingface opencv langchain jupyter selenium playwright puppeteer pytest junit jest mocha
    cypress aws lambda_function s3 ec2 azure gcp firebase supabase cloudflare vercel heroku android_studio xcode
    swiftui flutter react_native unity unreal_engine godot arduino raspberry_pi esp32 leetcode hackerrank codeforces
    big_o time_complexity space_complexity recursion recursive dynamic_programming multithread* mutex semaphore
    deadlock* goroutine* coroutine* async_await asynchronous promise_all callback* closure* pointer* segfault
    garbage_collector heap_memory stack_overflow linked_lists polymorphism inheritance_in dependency_injection
    design_pattern* solid_principles singleton orm mvc microservice* monolith sharding load_balanc* message_queue
    idempoten* api_key endpoint* http_request https_server tcp_socket dns_server ssl_cert* env_variable*
    environment_variable* npm npx yarn_install pip pip3 conda maven gradle cmake makefile gcc clang llvm webassembly
    wasm vscode vim_config debounce throttle dataframe* tensor* hashmap hashset arraylist array_of integer_array
    two_sum nested_loop for_loop while_loop boolean_value null_pointer nullpointer* undefined typeerror valueerror
    keyerror indexerror attributeerror syntaxerror stacktrace stack_trace traceback exception* unhandled compil*
    runtime_error memory_leak race_condition* concurrency utf_8 base64 regex* xpath css_selector* flexbox
    frontend_developer backend_developer devops вью_js ангуляр* джанго фласк* фастапи спринг_бут* ларавел* докер*
    кубер* кубернет* терраформ* нгинкс* линукс* убунту гит гита гите гитхаб* гитлаб* коммит* мердж* мерж* ребейз*
    постгрес* постгре* монго* редис* кафк* рэббит* кликхаус* пандас* нампай* тензорфлоу пайторч* айограм aiogram
    telebot вебсокет* вебхук* эндпоинт* бэкенд* бекенд* фронтенд* рекурси* переменн+_в массив* указател* горутин*
    корутин* асинхронн* многопоточ* взаимоблокиров* дедлок* исключени+_в компилир* компиляц* сборк+_проекта
    утечк+_памяти гонк+_данных стек_вызовов стектрейс* трейсбек* синтаксическ+_ошибк* ошибк+_компиляции индекс+_в_базе
    база_данных базы_данных базу_данных базе_данных субд шардиров* микросервис* монолит* легаси деплой* сервак* vps впс
    крон датафрейм* цикл+_for цикл_while лямбд* замыкани* полиморфизм* инкапсуляц* ооп паттерн+_проектирован* nuget
    битрикс* wordpress вордпресс* тильд+_код let_и_const var_и_let useeffect usestate async await json_parse localhost
    parquet athena redshift bigquery databricks dbt etl data_lake data_warehouse kinesis api_gateway iam_policy vpc
    cloudformation reverse_proxy automatic_tls tls_certificate* subdomain* caddy traefik haproxy varnish memcached
    directory_tree directories file_descriptor* stdin stdout stderr immutable mutable borrow_checker generics iterator*
    generator_function list_comprehension* tuple tuples hash_map hash_table* binary_tree* linked_list* heap_data
    priority_queue adjacency_list graph_traversal depth_first breadth_first bfs dfs dijkstra* memoization backtracking
    bit_manipulation two_pointers sliding_window prefix_sum union_find segment_tree trie usememo react_hook* re_render*
    rerender* vuex pinia ngrx rxjs observable* zustand media_query css_grid z_index dom_element query_selector
    event_listener* addeventlistener service_worker pwa webrtc socket_io tcp udp osi_model subnet* vlan firewall_rule*
    iptables ssh_key* ssh rsync grep awk chmod chown systemctl journalctl kubectl ingress_controller helm_chart istio
    service_mesh prometheus grafana datadog opentelemetry circleci gitlab_ci github_actions argo_cd unit_testing tdd
    mockito testng oauth_flow saml csrf xss sql_injection hashing bcrypt wildcard globbing sqlalchemy hibernate jpa
    prisma typeorm sequelize entity_framework linq blazor wpf winforms xamarin jetpack_compose android_app ios_app
    uikit core_data arkit shader* opengl vulkan cuda simd embedded firmware stm32 rtos fpga verilog vhdl mqtt modbus
    gradient_boosting xgboost lightgbm random_forest logistic_regression linear_regression svm kmeans k_means dbscan
    pca cnn rnn lstm tokenizer embeddings vector_database faiss pinecone openai_api confusion_matrix cross_validation
    train_test_split overfitting hyperparameter* matplotlib seaborn plotly streamlit gradio beautifulsoup scrapy
    asyncio aiohttp celery uvicorn gunicorn wsgi virtualenv venv requirements_txt package_json tsconfig eslint monorepo
    turborepo semver recursionerror referenceerror outofmemoryerror bitwise endianness floating_point integer_overflow
    mojibake excel_vba power_query power_bi dax pivot_table vlookup xlookup countif sumif apps_script zapier
    shopify_liquid wordpress_plugin woocommerce elementor htaccess phpmyadmin виртуальн+_окружени* pycharm intellij
    visual_studio сборщик+_мусора наследовани+_класс* сериализаци* десериализаци* парсинг* скрапинг* бинарник*
    хэш_таблиц* очеред+_сообщени* брокер+_сообщени* репликаци* партиционирован* джойн* left_join inner_join подзапрос*
    оконн+_функци* накопительн+_итог* вложенн+_цикл* бинарн+_дерев* обход_в_ширину обход_в_глубину
    динамическ+_программирован* жадн+_алгоритм* сложность_алгоритм* ассоциативн+_массив* кортеж* виджет* компонент_vue
    vue_компонент* react_компонент* вьюх* апишк* фреймворк* flexbox* div draggable safari_css await_x callback_hell nfs
    pvc crashloopbackoff pod pods kubernetes_pod swift_ui numpy_array формулой_в postgres_database xml html_tags
    воркер* worker_x backend_service брокер_url celery_broker структура_проекта слои_в_приложении хендлер* репозитори*
    рекурсивн+_запрос* sqlite3 operationalerror indentationerror ci_в ci_cd docker_image образ_докер* деплой по_ssh jq
    jsonpath 1с_обработк* инфоблок* ansible_playbook terraform_module jest_mock fake_timers фейков+_таймер*
    фэйков+_таймер* краулер* случайн+_лес ноутбуке_python важност+_признак* this_error error_mean что_за_ошибка
    event_loop ноде нода_js микрозадач* trailing_zeros_x two_phase_commit distributed_system* distributed_transaction*
    saga sagas coordinator_crash* network_partition* consensus eventual_consistency strong_consistency linearizab*
    serializab* isolation_level* optimistic_lock* pessimistic_lock* оптимистичн+_блокировк* пессимистичн+_блокировк*
    блокировк* row_level_security multi_tenan* tenancy schema_per_tenant noisy_neighbo* vector_clock* gossip_protocol
    quorum write_ahead_log b_tree lsm_tree bloom_filter* consistent_hashing rate_limit* circuit_breaker* backpressure
    back_pressure exactly_once at_least_once dead_letter change_data_capture cdc materialized_view* data_pipeline*
    batch_job* stream_processing flink beam_pipeline dagster prefect dbt_model data_mesh schema_registry avro protobuf
    thrift compiler_design lexer ast abstract_syntax bytecode jit_compil* interpreter_loop garbage_collection
    memory_allocat* virtual_memory page_table* context_switch* scheduler_algorithm thread_pool* process_and_thread
    fork_exec ipc_mechanism shared_memory semaphores spinlock* lock_free memory_barrier* cache_line* branch_prediction
    pipeline_hazard* instruction_set risc assembly_code bootloader kernel_module device_driver interrupt_handler i2c
    uart spi_bus pwm adc_reading bank_conflict* cuda_kernel tensor_core quantiz* lora fine_tuning rag
    retrieval_augmented prompt_template* function_calling vector_search semantic_search bm25 ranking_model
    feature_store a_b_test pkce authorization_code refresh_token* access_token* session_cookie* csrf_token
    content_security_policy same_origin tls_handshake certificate_authority public_key private_key hmac sha256 md5
    salting buffer_overflow privilege_escalation penetration_test* reverse_engineer* malware_analysis wireshark nmap
    metasploit active_directory ldap kerberos vpn_tunnel wireguard openvpn bgp ospf nat_gateway dhcp dns_record*
    load_balancer cdn_cache websockets_server long_polling server_sent_events http2 http_3 quic rest_vs_graphql
    api_versioning pagination cursor_based idempotency_key* optimistic_ui hydration ssr ssg isr tree_shaking
    code_splitting lazy_loading web_worker* intersection_observer mutation_observer shadow_dom web_component*
    custom_element* css_variable* specificity z_index_issue responsive_layout media_queries animation_frame canvas_api
    webgl three_js d3_js svg_path leaflet_map mapbox electron_app tauri react_query swr context_api prop_drilling
    memoiz* virtual_dom reconciliation signals_in_angular change_detection dependency_inject* aspect_oriented
    reflection_api annotation_processor lombok jvm_tuning gc_pause heap_dump thread_dump connection_pool* orm_mapping
    n_plus_one lazy_load eager_load migrations_in db_index* composite_index covering_index query_plan explain_analyze
    vacuum deadlock_detected foreign_key* primary_key* normalization third_normal_form er_diagram er_диаграмм*
    stored_procedures triggers_in cte recursive_cte window_function* partition_by group_by having_clause pivot_query
    upsert merge_statement json_column full_text_search конвейер+_данных витрин+_данных витрину идемпотентност*
    перезапуск+_задач* аномали+_во_временных временн+_ряд* машинн+_обучени* обучи+_модель классификатор+_текст*
    кластеризаци* регресси* нейросетк+_на градиентн+_бустинг* переобучени* кросс_валидаци* датасет* парсер+_логов
    логировани* мониторинг+_сервис* балансировщик* прокси_сервер шардировани* кэширован* кеширован*
    распределенн+_систем* согласованност* микросервисн* событийн+_архитектур* очеред+_задач* потокобезопасн*
    гонк+_потоков мьютекс* семафор* сборк+_мусора виртуальн+_памят* системн+_вызов* драйвер+_устройства прошивк*
    контроллер+_stm pygame platformer phaser love2d roblox lua_script google_sheet column_a column_b столбец_a
    столбце_a synchronous_commit async_replica* replica* failover primary_replica shader_graph tilemap sprite* hitbox
    raycast* collision_detection dataset* feature_engineering class_imbalance дисбаланс_классов базов+_модель
    обучающ+_выборк* mongoose express_api react_hook_form react_18 next_14 preventdefault unique_index уникальн+_индекс
    gherkin cucumber step_definitions behave_framework pre_commit gitignore msw the_warning prop props unique_key yolo*
    yolov8 stable_diffusion bert gpt2 llama whisper_model object_detection image_classifier sorted_array unsorted_array
    an_array вба ячейк+ условн+_форматирован* conditional_formatting лист_словарей список_словарей list_of_dicts
    list_of_lists fastify koa_js hono_js bun_js astro_js ember_js alpine_js strapi directus hasura neo4j couchdb
    influxdb timescale* duckdb cockroachdb ssis salesforce_apex power_automate telegram_bot discord_bot slack_bot
    discord_js discord_py telethon pyrogram vagrant proxmox esxi hyper_v wsl wsl2 homebrew apt_get yum_install tmux
    bashrc zshrc logrotate fail2ban openssl certbot letsencrypt cloudfront route53 eks fargate gke pulumi nomad_job
    consul etcd zookeeper jdbc servlet tomcat quarkus micronaut ktor retrofit okhttp room_database coredata swiftdata
    cocoapods proguard unity3d monobehaviour gameobject rigidbody babylon_js bpy tkinter pyqt kivy pyinstaller
    pyautogui pynput httpx urllib lxml openpyxl xlsxwriter pypdf reportlab sympy statsmodels networkx nltk spacy gensim
    peft vllm ollama llama_cpp langgraph llamaindex weaviate qdrant milvus mlflow wandb kubeflow sagemaker vertex_ai
    onnx tflite unet resnet mobilenet word2vec tf_idf tfidf cosine_similarity kruskal bellman_ford floyd_warshall
    knapsack n_queens hanoi game_of_life mandelbrot perceptron raytracer brainfuck csv_file json_file log_file env_file
    ini_file config_file css_class svg_icon localstorage sessionstorage indexeddb fetch_api axios ajax xmlhttprequest
    bearer_token basic_auth curl wget usecontext useref usecallback usereducer setstate vuetify nuxtjs material_ui mui
    chakra_ui shadcn bullmq dotenv pm2 nodemon ts_node vitest storybook appium robot_framework jmeter k6_test junit5
    assertj foreach hashcode serialize deserialize enum_class nullable optional_chaining try_catch try_except
    switch_case if_else while_true subprocess multiprocessing threading thread_safe mutex_lock event_handler onclick
    onchange addlistener dropdown_menu navbar checkbox_state radio_button modal_window tooltip_css hover_effect
    sticky_header hamburger_menu parallax responsive_table dark_mode light_mode_toggle form_validation file_upload
    image_upload infinite_scroll autocomplete_input google_maps_api stripe_api paypal_api twilio sendgrid smtp_server
    imap oauth_token rate_limiter load_test джанг* роутинг* роутер_vue дебаггер* линтер* бандлер* вебпак* ансибл*
    дженкинс* раннер* бэкап_базы дамп_базы бекап_базы таблиц+_базы_данных хранимк* курсор_sql селениум* плейврайт*
    токен_бота вк_апи апи_вк виртуалк* сокет+ асинк* промис+ колбэк* колбек* прототипн* дженерик* абстрактн+_класс*
    перегрузк+_оператор* перегрузк+_метод* тайпхинт* дата_класс потоков_выполнения связан*_список хеш_функц*
    хеш_таблиц* бинарн+_куч* двоичн+_дерев* сортировк+_слиян* сортировк+_вставк* сортировк+_выбор* динамик+_программ*
    задач+_о_рюкзаке обход_графа кратчайш+_пут* двумерн+_массив* одномерн+_массив* вещественн+_чис*_в переменная_типа
    строков+_переменн* выпадающ+_список сводн+_таблиц* впр_формул* функци+_впр функци+_если умн+_таблиц* powerquery
    макрос+_excel адаптивн+_верстк* бургер_меню модальн+_окн* слайдер_на форм+_обратной_связи телеграм_апи мини_апп
    webapp_telegram реакт реакта реакте реакту реактом merge_conflicts alembic liquibase flyway data_structure
    fizzbuzz fizz_buzz fizz data_structures структур+_данных machine_learning deep_learning ml_model
  `,
  bug: `
    bug bugs buggy error_message error_code crash* segfault* segmentation_fault exception* traceback stack_trace
    stacktrace deadlock* doesn_t_work does_not_work doesnt_work not_working isn_t_working isnt_working won_t_compile
    doesn_t_compile fails_with throws throwing an_error this_error returns_undefined getting_error get_an_error
    gives_error gives_me_an_error returning_null infinite_loop memory_leak race_condition off_by_one баг бага баги
    багов краш* крашит* вылета* падает_с падает падает_сервис зависа* не_работа* не_компилир* не_запуска* не_собира*
    не_устанавлива* выдает_ошибк* выдает_error вылезает_ошибк* вылезла_ошибк* ошибк+_403 ошибк+_404 ошибк+_500
    ошибк+_в_коде ошибку_в_коде ошибка_в_коде ошибка_при ошибки_в_коде дубли_почему бесконечн+_цикл* утечк+_памяти
    exit_code status_code modulenotfounderror cannot_borrow cannot_read cannot_find_module command_not_found
    connection_refused unexpected_token is_not_defined is_not_a_function undefined_reference re_renders_forever
    renders_forever infinite_re cors_error* build_fails test_fails tests_fail failing_test wrong_output
    time_limit_exceeded keeps_crashing crashes_when не_находит_модуль не_видит_модуль не_подключается_к
    не_импортируется не_рендерится бесконечно_перерисовыва* тормозит_запрос запрос_тормозит the_error_mean error_mean
    error_means эта_ошибка что_за_ошибка эту_ошибку ошибка_означает this_warning the_warning returns_404 returns_500
    returns_403 returns_401 404_on 500_on 404_error 500_error возвращает_404 отдает_404 отдает_500 отдает_403
    does_nothing_when ничего_не_происходит returns_nothing nameerror zerodivisionerror filenotfounderror
    unicodedecodeerror permissionerror runtimeerror assertionerror nullpointerexception classcastexception
    illegalargumentexception illegalstateexception classnotfoundexception stackoverflowerror sqlexception core_dumped
    bus_error access_violation undefined_symbol linker_error enoent eacces eaddrinuse econnrefused etimedout rangeerror
    hydration_error bad_gateway gateway_timeout internal_server_error detached_head permission_denied no_such_file
    heap_out_of_memory blue_screen_code stack_smashing double_free use_after_free нулев+_указател* выход_за_границ*
    переполнени+_стек* не_коннектится не_импортирует не_рендерит не_собирает не_парсится не_компилится
    segmentation_violation not_subscriptable not_callable not_iterable has_no_attribute must_be_str unexpected_indent
    unexpected_eof invalid_syntax is_undefined is_null
  `,
  role_code: `
    coding_assistant code_assistant programming_assistant reply_with_code answer_with_code code_only only_code
    software_engineer programmer developer code_interpreter помощник_программиста только_кодом программист*
    разработчик* кодом
  `,
  statement: `
    input_format output_format sample_input на_вход_подается на_вход_поступает программа_должна return_the_number
    return_the_minimum return_the_maximum return_the_length return_the_indices return_the_index return_indices
    return_true_if return_all return_an_array return_a_list return_the_total return_the_k return_the_kth
    return_the_smallest return_the_largest return_the_fewest return_the_sum print_a_single print_the_number
    print_one_integer first_line_contains first_line_of_input each_test_case test_cases_follow constraints_1
    выведите_количество выведите_одно вывести_количество выведите_число в_первой_строке во_второй_строке
  `,
  trouble: `
    error errors fails failed failing stuck wrong broken issue problem weird slow hangs overflow* only_on cannot can_t
    doesn_t does_not isn_t won_t not_working looks_fine not_found keeps_getting unable_to trouble crash* leak* не_могу
    не_получается не_видит не_видят ошибк* проблем* почему_то не_так выдает ломается сломал* тормозит глючит глюк*
    не_срабатыва* не_приход* не_отвеча* не_понимаю не_пойму пада* зависа* вылета* не_падать не_упасть не_влезает
    не_помещается out_of_memory too_slow слишком_медленн* не_хватает_памяти warning warnings паник* panic panics
  `,
  sample: `
    примерами_кода примером_кода пример_кода примеры_кода code_example* code_sample* example_code full_code
    show_code show_me_code show_the_code покажи_код с_кодом рабочий_пример working_example minimal_example
    код_пожалуйста with_code
  `,
  givens: `
    you_are_given you_have_an given given_a given_an given_two given_the дан дана дано даны дается вводится вводятся
  `,
  structure: `
    array arrays string strings integer integers matrix grid graph tree linked_list permutation* board nodes node
    substring* subarray* subsequence* digits binary lowercase queries массив* строк+ граф+ дерев* сетк* матриц*
    последовательност* отрезк* вершин* ребер перестановк* подстрок* подмассив* файл_с_числами натуральных_чисел
  `,
} as const;
