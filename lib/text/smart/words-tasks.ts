// What a request asks to be done: stems of task verbs and of the nouns that stand for them, English and Russian alike.
// `*` ends a stem (any ending), `+` allows at most two more letters, `_` joins the words of a phrase.

export const TASK_WORDS = {
  translate: `
    translat* перевед+ перевест* перевод переводик переводчик+ локализуй* how_do_you_say how_do_i_say how_to_say
    how_would_you_say как_будет_по как_сказать_по как_по_английски как_по_немецки как_по_французски как_по_испански
    как_по_китайски по_русски_это spanish_word_for french_word_for german_word_for italian_word_for english_word_for
    russian_word_for spanish_for french_for german_for italian_for как_переводится как_перевести перетолмач* переводишь
    переводите_все translates на_*_языках in_*_languages на_*_языков
  `,
  fix: `
    fix correct proofread* proof_read поправ+ поправить подправ* вычита+ вычитайте вычитать откорректир* скорректир*
    отредактир* редактир+ редактируй* edit copyedit copy_edit spellcheck spell_check почини+ починить почините почин+
    пофикс* фиксани фикс зафиксь grammatically_correct grammar_check как_правильно_пиш* как_правильно_написать
    как_правильно_говор* как_правильно_сказать как_правильно_произн* как_правильно_ставить как_пишется как_правильней
    как_верно_пиш* корректур* убери_ошибки устрани* is_it_correct испр ошибки_плз корректор* proofreader
    редактор_текста исправляешь исправляй* корректируешь исправь исправьте исправить исправляй исправлять исправишь
    исправлен_вариант исправленн+_вариант расстав*_запят* расстав*_знак* расстав*_все_знак* расстав*_пунктуац*
    расстав*_недостающ* расстав*_ударени* расстав*_пропущенн* расстав*_пробел*
  `,
  check: `
    check verify inspect проверь* проверить посмотри посмотрите глянь гляньте проверка_текста find_mistakes
    find_errors find_the_mistakes find_the_errors найди_ошибк* найти_ошибк* нет_ли_ошибок нет_ошибок есть_ли_ошибки
    any_mistakes_in any_errors_in any_typos any_typos_in есть_опечатки нет_опечаток
  `,
  shorten: `
    shorten shorter condense trim abridge tighten сократ* короче покороче укорот* ужми ужать сожми сжать урежь
    compress cut_down cut_this cut_it cut_the make_concise more_concise in_fewer_words подсократи сокращаешь
    сокращай*
  `,
  rewrite: `
    rewrite rephrase* paraphras* reword* restate polish переформулир* перефразир* переписа* перепиш* перескажи_своими
    по_другому_скажи другими_словами своими_словами in_other_words сделай_вежливее make_it_more_polite make_it_polite
    change_the_sentence change_the_following make_this_sound make_it_sound make_this_more_formal uniquely rewrite_the
    improve_the_wording рерайт* улучши_текст passive_voice active_voice past_tense present_tense future_tense
    прошедшее_время настоящее_время будущее_время третьего_лица first_person third_person упрости_текст
    simplify_the_text simplify_the_sentence simplify_this_sentence в_прошедшем_времени прошедшем_времени
    в_будущем_времени combine_the_sentences combine_the_two change_the_tense rearrange* переставь
    transform_the_sentence преобразуй_предложение make_the_tone more_formal more_polite more_politely more_formally more_professional more_friendly
    more_casual friendlier politer simpler_words clearer make_it_clearer sound_natural sound_better sound_more
    сделай_тон сделай_более_вежлив* сделай_более_официальн* сделай_более_дружелюбн* более_вежливо более_официально
    официальнее дружелюбнее вежливее попроще смени_тон измени_тон clean_up clean_this_up tidy_up причеши причесать
    улучши_формулировк* reported_speech indirect_speech direct_speech косвенн+_речь прямую_речь
  `,
  summarize: `
    tldr tl_dr recap gist synopsis key_points main_points key_takeaways takeaways main_idea central_idea суммар*
    суммир* саммари самари резюмир* сделай_резюме краткое_резюме кратко_перескаж* перескаж* перескажи* пересказ*
    выжимк* конспект* законспектир* краткое_содержание краткий_пересказ основные_мысли основная_мысль главная_мысль
    главную_мысль основную_мысль основные_тезисы ключевые_тезисы основные_моменты кратко_изложи изложи_кратко
    изложи_суть в_чем_суть суть суть_текста о_чем_текст о_чем_статья о_чем_этот тезисно выдели_главное выдели_основное
    главное_из аннотаци* аннотир* протокол_встречи сделай_протокол meeting_notes minutes_of_the_meeting
    executive_summary summar* summari*
  `,
  classify: `
    classif* categori* sentiment* label tag odd_one spam is_this_spam which_category what_category positive_or_negative
    negative_or_positive belongs_to doesnt_belong does_not_belong dont_belong не_относится лишнее лишний классифиц*
    классиф+ категориз* к_какой_категории к_категори* по_категориям категория категорию тональност* спам спам_или
    отнеси* отнести разметь размеч* рассортируй* распредели* сгруппир* разбей_на_группы раздели_на_группы раздели_слова
    group_the sort_these sort_the_following_into group_these tell_me_whether tell_me_which identify_which
    identify_whether decide_whether detect_the_language what_language на_каком_языке определи_язык определи_тон*
    определи_тип определи_категор* определи_жанр определи_намерение намерение_пользователя intent_of rate_the_tone
    tone_of оцени_эмоц* эмоциональн+_окраск* эмоци+_сообщ* fact_or_opinion факт_или_мнение истинно_или entail*
    contradict* does_the_hypothesis same_meaning_as стиль_текста тип_вопроса hate_speech токсич* toxic_or
    positive_negative позитивн+_или негативн+_или положительн+_или отрицательн+_или based_on_sentiment
    which_of_the_following which_of_these какие_из_перечисленных какое_из_перечисленных какой_из_перечисленных
    что_из_перечисленного что_из_этого укажи_тип топик* part_of_speech rate_each rate_the rate_these score_each
    assign_a_label assign_each on_a_scale scale_from по_шкале по_пятибалльной по_10_балльной к_какому к_какой_групп*
    which_department what_type_of which_type which_class is_it_a оцени_от sarcas* ironic offensive_or nsfw
    тематик*_текста выбери_правильный выбери_верный выберите_правильный выберите_верный choose_the_correct
    choose_the_right pick_the_correct select_the_correct which_option правильный_вариант верный_вариант классификатор*
    classifier поставь_тег проставь_тег* теги check_if determine_if decide_if score_the similarity сходство tell_if
    see_if проверь_верно верно_ли_утверждение разложи_по разбей_по раскидай_по распредели_по sort_it_by sort_them_by
    group_them_by group_by_section определяешь_язык определяешь_тон* detect_language language_of классифицируешь
    переносн+_смысл переносном прямой_смысл literal_or figurative прямом_или нормальный_тон is_the_tone тон_для tone_ok
    state_whether state_if odd_or_even четное_или нечетное evaluate_*_the_statement evaluate_*_the_sentence
    evaluate_*_the_claim check_*_the_statement determine_*_the_statement determine_*_the_sentence какой_язык_программ*
    which_programming_language_is what_programming_language_is следствие_противоречие посылк*_и_гипотез*
    output_the_intent the_intent намерение_в верни_1 output_1 верни_0 output_0 ответь_1 да_если модерир* moderat*
    score_this grade_this order_these match_each pair_each bucket_these triage_these mean_the_same means_the_same
    same_thing_or одно_и_то_же_ли from_1_to_3 from_1_to_5 from_1_to_10 from_0_to_5 from_0_to_10 from_0_to_100 от_1_до_3
    от_1_до_5 от_1_до_10 от_0_до_5 от_0_до_10 от_0_до_100
  `,
  extract: `
    extract* pull_out pull_the pick_out list_all_the_names highlight_the find_all_the_names find_the_names
    find_the_name find_the_phone find_the_email find_the_date find_the_price named_entit* entities entity_recognition
    извлек* вытащ* выпиш* выписать достань* достать вычлен* выдели* выделить собери_из найди_в_тексте найди_в_списке
    найди_в_таблице найди_все_имена найди_все_даты именованные_сущности сущност* ключевые_слова copy_all spot_the
    по_тексту из_текста from_the_text from_the_passage from_the_paragraph according_to_the_text
    according_to_the_passage according_to_the_paragraph based_on_the_text based_on_the_passage based_on_the_paragraph
    based_on_this_text based_on_the_following based_on_this_paragraph from_this_paragraph from_this_text
    given_this_paragraph given_the_paragraph given_this_text given_a_reference_text given_the_reference_text
    given_this_reference from_the_given reference_text исходя_из_текста согласно_тексту судя_по_тексту на_основе_текста
    опираясь_на_текст ответь_по_тексту спарси_из вычлени какие_персонажи_упомянуты упомянут* mentioned извлекаешь
    выделяешь keywords key_words key_phrases keyphrases ключевых_слов ключевик* упоминаются упоминается
  `,
  convert: `
    convert* alphabetical* alphabetically alphabetize sort capitalize uppercase lowercase remove_duplicates deduplicate
    reformat format_this format_the_following reorder put_these put_the_following arrange_the arrange_these
    how_many_kilometers_in how_many_miles_in how_many_feet_in how_many_grams_in how_many_ounces_in how_many_cups_in
    celsius fahrenheit to_iso iso_format turn_this_list turn_this_into_a_list turn_this_into_a_table turn_the_list
    transcribe spell_out in_words reverse_the_order count_the_words count_the_letters count_the_number_of_words
    how_many_words how_many_letters how_many_vowels how_many_characters_are replace_all replace_every remove_all
    remove_the сконверт* конверт* преобразуй_в_список отсортир* упорядоч* по_алфавиту алфавитн* прописью
    в_столбик_через через_запятую маркированн+_список нумерованн+_список в_виде_списка сделай_список_из убери_повтор*
    удали_повтор* удали_дубл* удали_лишн* удали_пробел* замени_все заглавными в_верхний_регистр в_верхнем_регистре
    в_нижний_регистр капслок* транслит* переверни_слов* напиши_наоборот сколько_слов сколько_букв сколько_гласных
    сколько_символов сколько_метров_в сколько_грамм_в сколько_сантиметр* сколько_секунд_в сколько_минут_в
    сколько_часов_в в_сантиметр* в_сантиметры в_килограмм* в_граммы в_литры в_минуты в_часы в_секунды в_километры
    в_мили в_стакан* римскими_цифрами roman_numerals to_binary в_двоичн* в_десятичн* в_шестнадцатеричн* to_decimal
    to_hexadecimal pig_latin morse морзе rewrite_in_uppercase оформи_списком оформи_в_виде оформи_как_таблицу
    to_uppercase to_lowercase посчитай_количество_слов посчитай_слова посчитай_буквы количество_слов_в количество_букв
    количество_гласных count_how_many приведи_к привести_к приведите_к normalize normalise bring_to_the_same
    расставь_от расставь_по расставить_по транскрибир* transliterat* транслитер* на_латиниц* латиницей по_госту
    оформи_по_гост* сделай_списком сделай_из_этого_список punctuate hyphenate capitalise pluralize pluralise romanize romanise decapitalize tabulate decode
    encode пронумеруй* раскодируй* декодируй* закодируй* раздели_на_слоги перенос_слов в_двоичную в_десятичную
    в_шестнадцатеричную в_формат к_виду к_формату
  `,
  lookup: `
    synonym* antonym* rhym* homophone* hyponym* homonym* opposite_of plural_of plural_form singular_form past_tense_of
    past_participle how_do_you_spell how_to_spell how_is_it_spelled spelling_of pronounc* fill_in_the_blank*
    fill_in_the_gap* fill_the_blank* fill_in_the_missing complete_the_sentence complete_the_following_sentence
    finish_the_sentence missing_word unscramble anagram* crossword another_word_for a_word_for word_that_means
    one_word_for abbreviation* acronym* синоним* антоним* рифм* омоним* паронимы ударени* множественное_число
    множественном_числе единственное_число просклон* склонени* спряжени* проспряг* падеж* часть_речи какой_частью_речи
    разбор_слова морфологическ+_разбор фонетическ+_разбор синтаксическ+_разбор по_составу вставь_пропущен* вставь_слово
    вставь_букв* пропущенн+_слов* пропущенн+_букв* закончи_предложение дополни_предложение закончи_пословиц*
    продолжи_пословиц* однокоренн* подбери_слово слово_из_букв анаграмм* расшифровывается расшифруй_аббревиатур*
    аббревиатур* emoji_for hex_code color_code код_цвета conjugat* анаграм* article_a_or_an подбери_эпитет*
    придумай_предложение_со составь_предложение_со составь_предложение_из make_a_sentence use_the_word_in_a_sentence
    use_it_in_a_sentence in_a_sentence html_color_code html_code_of color_code_of country_code дресс_код промокод*
    qr_code dress_code код_домофона как_одним_словом одним_словом_назвать what_do_you_call word_for
    what_is_the_word_for как_называется_человек* имхо brb как_назвать_человека как_называют_человека ascii_code
    code_of_the_character код_символа код_буквы в_ascii ascii_код guess_the угадай отгадай как_сокращается
    сокращение_от abbreviate unicode_code как_сокращенно keywords_for_this keywords_for_the_following образуй_форму
    образуй_множественное поставь_в_форму поставь_глагол подбери_проверочн* подбери_антоним* раскрой_скобки_и_поставь
    подбери_синоним* составь_слово_из проверочн+_слово the_plural the_past_tense_of the_comparative the_superlative
    множественное how_do_you_pronounce how_do_i_pronounce how_to_pronounce среднего_рода мужского_рода женского_рода
    какого_рода части_речи
  `,
  write: `
    write compose draft create generate craft make prepare produce pen ghostwrite author напиши* напеши* написать
    напишем напишите сочини* сочинить составить составьте придумать придумайте подготов+ подготовить подготовьте
    сделай* сделать созда+ создать создайте сгенерир* накида+ накидать накидайте набросай* набросать распиши*
    расписать изложи* сформулир* нарисуй* собери построй* построить build развей развернуть заполни* пиши сваргань
    замути напешите wrte напишика wanna_write write_me let_s_write help_me_write помоги_написать ответь_на_отзыв
    construct invent devise put_together come_up_with draw_up think_of think_up сконструируй приготовь смоделируй
    сгенери генерируй слепи составь составим составляй придумай придумаем
  `,
  give: `
    give provide i_need need want show_me get_me нужен нужна нужно нужны надо требуется хочу дай дайте дать проведи*
    провести предоставь* выдай покажи show conduct perform carry_out undertake
  `,
  complete: `
    continue продолж* complete finish дополни допиши* дописать закончи* expand elaborate дострой расширь разверни
    развей_мысль go_on keep_going дальше еще_раз
  `,
  explain: `
    explain* describe* tell_me tell_us teach clarify elaborate_on illustrate outline discuss talk_about walk_me
    what_happens объясн* обясн* обьясн* разъясн* поясни* расскаж* раскажи* рассказать опиши* описать растолкуй*
    обсуд* раскрой* охарактериз* характеристик* научи* покажи_как show_me_how help_me_understand помоги_понять
    помоги_разобраться разбери_по познакомь introduction_to introduce_me введение_в простыми_словами простым_языком
    eli5 explainlikeimfive like_im_five like_i_m_five как_для_чайник* для_чайников на_пальцах feedback feedback_on
    обратн+_связь break_down break_it_down enlighten overview_of overview обзор_по поведай просвети
    разложи_по_полочкам кратко_о кратко_об коротко_о коротко_об вкратце_о вкратце_об what_is_the_story_behind
  `,
  advise: `
    advise advice recommend* suggest* tips tip ideas brainstorm should_i should_we what_should should_my how_can_i
    how_should how_do_i how_to how_can_we what_to_do what_can_i best_way good_way ways_to what_would_you посовет*
    подскаж* порекоменд* рекоменд* совет* идеи идей идею идея стоит_ли что_делать как_быть что_подарить что_приготовить
    что_посмотреть что_почитать что_лучше как_лучше какой_лучше какую_лучше какие_лучше что_выбрать какой_выбрать
    помоги_выбрать лайфхак* способ+ способами на_что_обратить на_что_смотреть с_чего_начать как_можно brainstorming
    штурм* help_me_choose help_me_decide what_do_you_think что_думаешь что_ты_думаешь как_думаешь как_считаешь
    твое_мнение ваше_мнение is_it_worth worth_it is_it_better would_it_be_better do_you_have_any any_tips any_ideas
    any_advice предложи предложите предложить что_выгоднее что_полезнее что_дешевле что_вкуснее что_важнее как_выгоднее
    что_надежнее что_проще какой_подарок какой_сюрприз какую_книгу какой_фильм какой_сериал какую_игру какую_машину
    какой_телефон какой_ноутбук what_gift what_present which_book what_book which_movie what_movie which_laptop
    which_phone which_car что_нибудь чего_нибудь какой_нибудь какую_нибудь something_less something_more anything_else
    что_то_другое is_there_a_way is_there_any_way is_there_an_easy_way есть_ли_способ
    есть_способ
  `,
  list: `
    list enumerate name names перечисл* перечень назов* назвать приведи* give_an_example give_me_an_example
    examples_of give_me_three give_me_two give_me_five give_three give_two three_examples пример примера примеры
    примеров
  `,
  identify: `
    identify determine choose select pick match detect find locate определи* определить выбери* выбрать укажи*
    указать найди* найдите найти отметь* сопоставь* установи_соответствие соотнеси* назови_тип rank order arrange
    count подсчита* predict guess угадай* отгадай* загадк* riddle decide определя* detects detecting
  `,
  analyze: `
    analyz* analys* evaluat* assess* critiqu* critical* examin* investigat* audit* diagnos* appraise weigh interpret*
    scrutin* анализ* проанализ* оцени* оценить оценк* исследуй* исследовать критическ* критику* взвесь* взвесить изучи*
    интерпретир* диагност* аудит* аргументир* обоснуй* обоснован* обосновать рассмотр* разбери разбор прогноз*
    спрогнозир* forecast* argue debate justify evaluate_the root_cause корневые_причин* выяви* выявить due_diligence
    swot swot_анализ pestel porter исследуем postmortem post_mortem постмортем* risk_assessment risk_analysis
    market_analysis feasibility_study gap_analysis cost_benefit_analysis competitor_analysis оценк+_рисков
  `,
  compare: `
    compar* contrast versus vs difference_between differences_between difference similarities distinguish
    better_than pros_and_cons advantages_and_disadvantages сравн* сопостав+ сопоставить отлича* отличи* разниц*
    различи* различа* плюсы_и_минусы достоинства_и_недостатки преимущества_и_недостатки за_и_против что_лучше
    which_is_better which_one_is_better
  `,
  prove: `
    prove proof show_that demonstrate_that derive derivation deduce disprove by_induction contradiction докаж*
    доказ* доказать выведи_формул* вывести_формул* выведите вывод_формулы покажите_что покажи_что_для по_индукции
    методом_индукции опровергн* q_e_d чтд lemma лемм* theorem* теорем*
  `,
  solve: `
    solve calculate compute evaluate simplify factor factorize differentiate integrate work_out find_the_value
    find_x find_the_sum find_the_area find_the_probability find_the_volume find_the_derivative find_the_integral
    find_the_roots reши реши решите решить решение порешай посчита* посчитай* рассчита* вычисл* подсчитай найдите
    найди_площад* найти_площад* найди_значени* найти_значени* найди_вероятн* найти_вероятн* найди_предел
    найди_производн* упрости* разложи_на_множители how_much how_many сколько чему_равн* сколько_будет estimate
    project_the оцени_сколько
  `,
  design: `
    design* architect* спроектир* проектир* проектн* архитектур* devise engineer sketch_an_architecture system_design
    разработай_архитектур* схему_базы схема_базы database_schema db_schema data_model модель_данных experiment_to
    controlled_experiment experimental_design дизайн_эксперимент* эксперимент* threat_model* модель_угроз модели_угроз
    stride_x research_plan research_design study_design план_исследования дизайн_исследования программ+_исследования
    spec_out event_driven событийн+_систем* событийн+_архитектур*
  `,
  develop: `
    develop* formulate propose strategi* разработа* разработк* выработ* выстрой* предложи_решени* внедри* внедрен*
    спланируй* запланируй* распланируй*
  `,
  implement: `
    implement* debug* refactor* code compile program containerize dockerize vectorize vectorization unit_test
    реализу* реализовать отлад* отлажива* рефактор* отрефактор* перепиши_код скомпилир* напрограммир* запрограммир*
    закод* накод* кодить сверст* сверстай* верстай* дебаж* дебаг* задебаж* докериз* покрой_тестами запили* распарс*
    спарс* спарси
  `,
  operate: `
    optimize optimise optimization deploy migrate install configure set_up setup automate scrape parse train_a
    fine_tune benchmark hook_up connect speed_up реализац* оптимизир* оптимизац* задепло* деплой* настрой* настроить
    подключи* подключить автоматизир* установи_и прикрути* допили* ускорь* ускорить improve make_it_faster улучши
    ускорь
  `,
  review: `
    review code_review security_review pull_request code_smell* peer_review ревью код_ревью отревью* проревью*
    сделай_ревью рецензи* вердикт vulnerabilit* уязвимост* security_issue* code_audit аудит_кода
  `,
  act: `
    act_as pretend* imagine roleplay role_play play_the_role take_on_the_role take_the_role picture_yourself let_s_play
    lets_play put_yourself from_the_perspective from_the_point_of_view from_the_view in_the_style_of stay_in_character
    in_character text_adventure persona представь* вообрази* притворись ты_теперь сыграй* сыграем поиграем
    давай_поиграем веди_себя_как в_роли от_лица в_стиле отыграй* ролев* будь_моим будь_моей побудь разыграй*
    выступи_в_роли act_like speak_like говори_как interview_me проведи_со_мной imagine_you отвечай_как ответь_как
    говори_от выступил_в_роли выступила_в_роли выступал_в_роли выступать_в_роли s_point_of_view s_perspective
  `,
  change: `
    add change modify adjust update extend include remove replace instead now добав* измени* изменить поменяй*
    обнови* замени* убери* уберите удали* вместо теперь сделай_так сделай_чтобы вставь дополн* try_again
    попробуй_еще еще_вариант another_one another_way other_way different_way другой_вариант другим_способом
    по_другому иначе
  `,
  handle: `
    split join merge combine swap insert underline circle assign output print repeat copy reverse shuffle mask redact
    anonymize anonymise tokenize separate delete strip trim fill put move turn switch replace substitute omit drop
    raздели раздели разделить объедини* соедини* поменяй_местами подчеркни* вставь* повтори* перенеси* разбей* впиши*
    выведи* спрячь скрой замени* удали* убери* переставь* обозначь отдели* склей* проведи_замену запиши* записать
    перечисли_по оформи+ оформить render return leave keep оставь оставьте верни верните вернуть реверс* transform
    переделай encircle cross_out strike_out highlight censor обведи зачеркни вычеркни замаскируй обезличь
    стандартизируй нормализуй обрежь
  `,
} as const;
