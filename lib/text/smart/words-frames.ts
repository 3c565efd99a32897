// How a request is framed: openings, questions, how short or thorough the answer shall be. Notation as in words-tasks.ts.

export const FRAME_WORDS = {
  greeting: `
    hi hello hey hiya howdy yo greetings good_morning good_evening good_afternoon good_night goodbye bye see_you sup
    whats_up what_s_up wassup how_are_you how_s_it_going hows_it_going how_do_you_do nice_to_meet thanks thank_you thx
    ty cheers ok okay okey cool great nice awesome perfect got_it i_see lol haha wow yes no yep nope yeah sure test
    testing ping who_are_you what_are_you are_you_there are_you_a_bot are_you_human are_you_real are_you_an_ai
    are_you_chatgpt what_is_your_name whats_your_name what_s_your_name what_can_you_do who_made_you who_created_you
    how_old_are_you привет* приветик* здравствуй* здрасте здрасьте здорово_как добрый_день доброе_утро добрый_вечер
    доброго_дня доброго_времени доброй_ночи спокойной_ночи хай хеллоу пока до_свидания до_встречи спасибо спс пасиб*
    благодарю ок окей океюшки ага угу да нет понял поняла понятно ясно супер отлично круто здорово спасибки как_дела
    как_ты как_жизнь как_поживаешь как_настроение че_как что_делаешь ты_тут вы_тут ты_здесь ты_кто кто_ты
    как_тебя_зовут что_ты_умеешь что_умеешь ты_бот ты_человек ты_живой ты_робот тест проверка_связи алло ку дарова прив
    салют рад_знакомству приятно_познакомиться молодец умница красава good_bot ты_лучший you_rock u_there r_u you_there
    sorry wrong_window ладно хорошо ну_все до_завтра bye_bye that_s_all how_s_your how_is_your how_was_your hows_your
    как_ваши как_твои как_твой как_ваш как_прошел как_прошла как_поживаете кто_тебя_создал кто_тебя_придумал
    кто_твой_создатель of_course конечно точно чем_занят чем_занята чем_занимаешься
  `,
  politeness: `
    please pls plz kindly could_you can_you would_you will_you can_u could_u can_i_ask i_want_you_to i_need_you_to
    i_d_like_you_to i_would_like_you_to i_want_to i_need_to i_d_like_to i_would_like_to help_me_to help_me help_to
    your_task_is_to your_task your_job_is_to the_task_is_to task question prompt instruction let_s lets so well now
    then also and just ok okay hey hi hello next first finally try_to go_ahead_and be_so_kind пожалуйста пожалуста плиз
    плз пжл пж прошу просьба будь_добр будьте_добры будь_другом можешь можете не_могли_бы_вы мог_бы_ты могли_бы
    ты_можешь вы_можете ты_не_мог_бы хочу_чтобы_ты мне_нужно мне_надо мне_нужна мне_нужен хотел_бы хотела_бы хочу надо
    нужно помоги помогите помоги_мне помогите_мне твоя_задача ваша_задача задача задание вопрос теперь а и ну так
    слушай слушайте давай давайте скажи скажите подскажи подскажите напомни напомните интересно короче_говоря привет
    здравствуйте добрый_день ок отлично затем потом также еще сначала попробуй быстро срочно
    below_is_an_instruction_that_describes below_is_an_instruction write_a_response_that ниже_приведена_инструкция
    напиши_ответ_который_выполняет
  `,
  label: `
    text input context passage paragraph article document source data content sentence review email email_text message
    user_input paragraph_text original transcript code reference background story tweet hypothesis premise текст
    контекст входные_данные ввод данные исходный_текст отрывок документ статья сообщение отзыв письмо источник
    предложение код материал фрагмент абзац cv resume notes резюме заметки таблица table list список utterance
    premise_1 посылка гипотеза реплика вход абзац_текста
  `,
  restart: `
    question questions q task instruction instructions request вопрос вопросы задание задача инструкция запрос goal
    aim objective цель
  `,
  errand: `
    first_request first_question first_topic first_problem first_task first_suggestion_request my_request_is
    первый_запрос первая_просьба первый_вопрос первая_задача первая_тема мой_запрос
  `,
  deictic: `
    this these above following below my_text the_text the_following given this_text выше ниже этот эту это эти этого
    этой этих текст+_выше следующ* данн+ приведенн* мой_текст вот for_each for_every each_of для_каждого для_каждой
    в_тексте in_the_text в_этом_тексте
  `,
  who: `
    who whom whose when where which_year what_year what_time what_day what_date what_color what_colour in_which
    in_what at_what which_country which_city which_planet which_animal which_company which_team кто кого кому кем
    когда где откуда куда во_сколько чей чья чье в_каком_году в_каком_город* в_каком_век* в_какой_стран*
    какого_цвета какого_числа какой_год какой_день в_каком в_какой на_какой на_каком по_какой при_какой какой_валют*
    какая_столица как_называется как_называют* как_зовут как_звали как_расшифровывается как_называлась
    как_называлось чему_равн* which_is_the who_is_the в_каких_странах в_каких_городах in_which_countries
    which_countries what_countries
  `,
  quantity: `
    how_many how_much how_old how_tall how_far how_long how_big how_often how_deep how_high how_fast how_heavy
    how_large how_hot how_cold how_wide how_late how_early how_big_is сколько сколко насколько во_сколько_раз какова
    какой_высоты какой_длины какой_глубины какой_площад* какого_размера какова_высота какова_длина скольки со_скольки
    сколько_стоит сколько_стоят how_much_does_it_cost
  `,
  factual: `
    capital population currency largest smallest biggest highest longest tallest deepest oldest fastest hottest coldest
    nearest farthest distance_from distance_between height_of length_of area_of born died date_of birth founder founded
    inventor invented author_of wrote discovered painted composed directed chemical_symbol chemical_formula
    atomic_number boiling_point melting_point speed_of_light zip_code area_code postal_code time_zone time_difference
    stand_for stands_for stand_for_what abbreviation full_name real_name nickname_of national_animal national_flower
    official_language president_of prime_minister king_of queen_of ceo_of located found_in member_of first_person
    first_man first_woman world_record won_the winner_of stolen_from played nationality married spouse genre_of
    release_date phone_code domain_of anthem flag_of планет столиц* население валют* крупнейш* самый_больш*
    самая_больш* самое_больш* самый_высок* самая_высок* самая_длинн* самый_длинн* самое_глубок* самая_глубок*
    самый_быстр* самый_старый самое_древн* самый_маленьк* самая_маленьк* самый самая самое самые расстояни* высота_горы
    длина_реки площадь_страны родился родилась умер умерла скончал* год_рождения дата_рождения основал* основан*
    изобрел* автор+ написал написала открыл+ нарисовал* снял_фильм режиссер* химическ+_символ* химическ+_формул*
    атомн+_номер* температур+_кипения температур+_плавления кипит плавится замерза* скорост+_света индекс_город*
    код_города часов+_пояс* разниц+_во_времени президент* премьер_министр* король королев* основатель находится
    расположен* относится входит_в первый_человек первая_женщина рекорд* победил* выиграл* отмеча* праздну* гимн* флаг*
    день_рождения полное_имя настоящее_имя ккал калори* весит хромосом* океан+ материк* континент* что_больше что_выше
    что_тяжелее кто_старше что_длиннее bigger heavier closer names_of the_time_in time_in который_час сколько_времени
    what_time time_is_it border borders граничит граничат граничащ* name_of called known_as курс_доллар* курс_евро
    курс_валют* курс_рубля курс_биткоин* exchange_rate какая_погода погода_в погода_завтра погода_сегодня weather_in
    weather_tomorrow weather_today weather_like dial_code dialing_code dialling_code calling_code iata_code airport_code atomic_mass atomic_weight
    density_of birthplace net_worth latitude longitude elevation gdp_of number_of_states lead_singer lead_actor cast_of
    played_by sung_by written_by invented_by discovered_by named_after first_president emperor_of wife_of husband_of
    daughter_of world_cup gold_medal olympics_in какого_роста какой_рост девичья_фамилия где_находится
    численность_населения атомн+_масс* герб+ денежн+_единиц* телефонн+_код в_главной_роли сыграл_роль солист*
    год_выпуска чемпион* олимпиад* золот+_мяч тренер_сборной кто_написал кто_снял кто_спел кто_нарисовал код_аэропорт*
    код_валют* код_регион* почтов+_код код_страны
  `,
  define: `
    what_is what_are what_s whats what_does what_is_meant define definition* what_was who_was mean means что_такое
    что_это кто_такой кто_такая кто_такие что_значит что_означа* значени+_слова определени* смысл_слова
    что_подразумева* дай_определение дайте_определение chto_takoe meaning_of_the_word значение_слова
  `,
  why: `
    why how_come how_does how_do how_did how_is how_are how_was how_would how_could how_will how_has for_what_reason
    what_causes what_caused what_makes what_happens what_would_happen what_if what_led почему зачем отчего от_чего
    из_за_чего как_работа* как_устроен* как_происход* как_влия* как_появил* как_возник* как_образу* что_будет_если
    что_произойдет что_случится чем_отлича* чем_полез* чем_вред* чем_опас* в_чем_разниц* в_чем_отличи* в_чем_смысл
    в_чем_причин* для_чего каким_образом как_так откуда_беру* откуда_бер* что_будет what_happened что_случилось
    что_произошло в_чем_секрет в_чем_прикол в_чем_суть what_is_it_like what_s_it_like what_was_it_like каково_это
  `,
  how: `
    how_to how_can how_should how_do_i how_do_you how_do_we how_i_can how как
  `,
  topics: `
    benefits advantages disadvantages causes cause effects effect impact impacts role importance significance
    consequences reasons reason symptoms stages phases types_of kinds_of principles features characteristics history_of
    origin_of ways steps methods strategies tips implications challenges pros cons risks_of meaning process moral theme
    themes message_of overview преимуществ* недостатк* причин* последстви* роль значение_для важност* симптом* этап*
    стади* виды типы принцип* особенност* характеристик* истори+ происхождени* способ* шаг+ метод* совет* трудност*
    плюсы минусы риски смысл польз* вред свойств* влияни* конфликт идея_произведения мораль процесс* story_behind
    story_of смысл_жизни meaning_of_life traditions customs традици* обыча*
  `,
  closed: `
    is are was were do does did can could will would has have had should am isn_t aren_t doesn_t don_t didn_t can_t
    правда_ли верно_ли можно_ли нужно_ли нужна_ли нужен_ли нужны_ли есть_ли является_ли является бывает_ли бывают_ли
    существует_ли может_ли могут_ли правда_что верно_что ли разве неужели надо_ли обязательно_ли входит_ли вредно_ли
    опасно_ли съедобн+_ли можно
  `,
  yes_no: `
    yes_or_no true_or_false да_или_нет верно_или_нет правда_или_ложь правда_или_миф yes_no верно_или_неверно
  `,
  brief: `
    in_one_word one_word in_a_word single_word one_sentence single_sentence in_one_line one_line just_the_answer
    only_the_answer answer_only yes_or_no in_a_nutshell in_two_words in_a_few_words two_sentences no_explanation
    without_explanation just_the_number only_the_number just_the_name number_only in_one_sentence in_under_10_words
    nothing_else just_answer just_name одним_словом одно_слово в_одном_слове одним_предложением одно_предложение
    в_одном_предложении в_одно_предложение одной_фразой одной_строкой в_двух_словах в_паре_слов в_трех_словах
    только_ответ без_пояснений без_объяснений да_или_нет ответь_числом только_число просто_список ничего_больше
    больше_ничего тремя_словами двумя_словами двумя_предложениями двух_предложениях
  `,
  detailed: `
    detailed in_detail in_depth indepth comprehensive* thorough* exhaustive* extensive* elaborate long lengthy
    complete_guide full_guide deep_dive step_by_step with_examples with_sources with_citations advanced fully
    full_length nuanced подробн* детальн* развернут* всесторонн* исчерпыва* глубок+_анализ* углублен*
    максимально_подробн* обстоятельн* с_примерами с_источниками полноценн* большую большое большой длинн* объемн*
    полный полное полную пошагов* профессиональн+_анализ* комплексн* full_text полный_текст целиком
  `,
  simple: `
    simple simply in_simple_words simple_terms layman* plain_language easy for_kids for_a_child for_children
    for_beginners beginner_friendly like_i_m like_im five_year_old short quick funny простыми просто простой простым
    легк* для_детей ребенку школьник* для_начинающих для_новичк* коротк* небольш* смешн* забавн*
  `,
  connector: `
    then also after_that afterwards and additionally finally next plus затем потом также после_этого далее
    дополнительно плюс и а_также кроме_того в_конце
  `,
  constraint: `
    answer return reply output respond use do_not don_t dont keep give_only only format ответь* верни* вернуть не
    выведи* используй* только формат результат ответ
  `,
  follow: `
    it this that them these those one same again more another instead now previous above first_sentence last_paragraph
    your_answer the_second the_first his her their а и еще это этого этот эту его ее их они он она оно теперь тогда
    там тут больше другой другую предыдущ* последн* перв+ втор+ тоже также такой такую такое то_же но what_about
    how_about как_насчет что_насчет а_что_с
  `,
  what: `
    what what_s whats which какой какая какое каком какую каким какого какому какими какие каких что чем чего о_чем
    куда chto
  `,
  opinion: `
    best good better great nice creative catchy fun interesting effective some possible ideal perfect suitable could
    would should might worth recommend лучше лучший лучшая лучшие лучшее хорош* интересн* необычн* креативн*
    эффективн* возможн* идеальн* подходящ* прикольн* классн* стоит посоветуе* выбрать взять купить сделать надеть
    will probably likely может думаешь будут будущ* через_*_лет бы подойдет подойдут ждет people usually обычно люди
    often typically way ways help helps помогает помогают спасает
  `,
  me: `
    i my we our me us mine myself я мне мой моя мое мои меня мы нам нас наш наша наше наши моей моего моему у_меня
    у_нас
  `,
  persona: `
    you_are_a you_are_an you_re_a you_re_an ты_мой ты_моя вы_мой you_are_now from_now_on you_are_the
  `,
  sum: `
    сколько_будет how_much_is чему_равн* посчитай подсчитай сложи вычисли умножь раздели_число вычти прибавь округли
    calculate compute sum_up add_up add multiply divide subtract round find_the_sum find_the_product
    find_the_difference
  `,
  terse: `
    briefly in_short in_brief кратко коротко вкратце quick_question short_answer
  `,
  debatable: `
    ethical moral morally fair unfair happiness happy love free_will god religion justice justified meaning point_in
    good_idea bad_idea overrated underrated better_off смысл этично морально справедлив* счаст* любов* бог религи*
    нравственн* свобод* допустимо стоит_ли оправдан* too_old too_late too_young too_much_to слишком_поздно
    слишком_стар* поздно_ли рано_ли normal_to ok_to okay_to rude_to wrong_to weird_to нормально_ли нормально_если
  `,
  better: `
    best better should лучше стоит лучший лучшая лучшее
  `,
  numeral: `
    one two three four five six seven eight nine ten twelve fifteen twenty thirty fifty hundred thousand dozen half
    twice один одну одной одно два две двух три трех четыре четырех пять пяти шесть шести семь восемь девять десять
    десяти двенадцать пятнадцать двадцать тридцать сто тысячу тысяча тысячи половину вдвое треть third quarter
    double triple половина втрое четверть третья трети шестью сотня сотню миллион million eleven forty sixty сорок
  `,
} as const;
