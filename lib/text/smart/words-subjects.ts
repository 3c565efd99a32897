// What a request is about: mathematics, sciences, expert fields, daily life. Notation as in words-tasks.ts.

export const SUBJECT_WORDS = {
  grammar: `
    grammar* spelling spell punctuation typo typos comma commas wording grammatical* english_mistakes мистейк*
    граммат* орфограф* пунктуац* опечат* запят* правописан* стилистик* стилистическ* орфографич* comments comment
    docstring* комментари* readme commit_message текст текста тексте предложени* sentence sentences paragraph text
    essay email письмо письме
  `,
  math: `
    differentiate equation* inequalit* vector_space* quadratic* cubic logarithm* trigonometr* sine cosine tangent_line
    geometr* triangle* hypotenuse circle radius circumference perimeter rectangle* parallelogram trapezoid polygon
    probability probabilit* permutation* combination* combinatori* expected_value variance standard_deviation
    distribution random_variable bayes binomial poisson_distribution normal_distribution regression_coefficient
    sequence_converge* series_converge* induction modulo prime_number* primes divisib* divisor* gcd lcm remainder
    integer_solution* real_numbers complex_number* rational_number* irrational* optimization_problem graph_theory f_x
    arithmetic_progression geometric_progression algebra* уравнени* неравенств* квадратн+_уравнен* логарифм*
    тригонометри* синус* косинус* тангенс* геометри* треугольник* гипотенуз* катет* окружност* радиус* периметр*
    прямоугольник* параллелограмм* трапеци* многоугольник* пирамид+_объем вероятност* перестановк* сочетани+_из
    комбинатори* дисперси* распределени+_случайн* случайн+_величин* байес* биномиальн* предел предела индукци*
    делимост* делител* простых_чисел простое_число иррациональн* комплексн+_числ* градиент* арифметическ+_прогресси*
    геометрическ+_прогресси* алгебр* стереометри* планиметри* параллелепипед* корни_уравнения number_of_ways
    how_many_ways dominoes coin_flips two_heads dice roots real_roots sketch_the_graph graph_of domain_and_range tiling
    шестизначн* двузначн* трехзначн* четырехзначн* пятизначн* натуральн* целых_чисел целые_числа целого_числа делится
    кратн* остаток_от остаток_при сумма_цифр ряда_с бесконечности плоскост* начала_координат координат* вектор*
    неравенство_коши свободн+_член* квадратн+_трехчлен* корни_многочлена область_определения факториал* счетн* биекц*
    инъекц* sum_of_the_series convergent discriminant asymptote* tangent bisector* incircle circumcircle tensor_product
    perfect_square positive_integers positive_integer natural_numbers in_how_many_ways сколькими_способами
    сколько_способов number_of_possible конус* сфер* шара призм* пирамид* цилиндр* образующ* осев+_сечени*
    боков+_поверхност* биссектрис* хорд* касательн* cone sphere cylinder prism pyramid chord rooks chessboard
    consecutive последовательн+_чис* последовательн+_натуральн* trailing_zeros factorial angle angles угол угла углы
    углом углов circumscribed inscribed вписан* описанн+_окружност* ребро ребра грань грани monic polynomial_has
    divisors sum_of_all integer_roots натуральных_корн* ln sin cos arctg tg ctg fair_coin biased_coin tossed
    deck_of_cards without_replacement with_replacement урны урне игральн+_кост* бросают вынимают без_возвращения
    system_of_equations solve_the_system решить_систему решите_систему реши_систему antiderivative partial_fractions
    chain_rule l_hopital maclaurin null_space orthogonal dot_product cross_product bijection cardinality subgroup
    congruence chinese_remainder fermat_s diophantine pigeonhole inclusion_exclusion recurrence confidence_interval
    p_value hypothesis_test t_test chi_square anova z_score covariance correlation_coefficient parabola hyperbola
    ellipse vertex_of slope_of line_through midpoint perpendicular parallel_lines similar_triangles law_of_cosines
    pythagorean interior_angle* diagonals hexagon surface_area first_term common_ratio common_difference nth_term
    solve_for_x solve_for_y rational_root simplify_the_expression factor_the_polynomial первообразн* ранг_матрицы
    базис+ ортогональн* скалярн+_произведени* подгрупп* гомоморфизм* сравнени+_по_модулю рекуррентн* принцип_дирихле
    доверительн+_интервал* стьюдента хи_квадрат ковариаци* коэффициент+_корреляции парабол* гипербол* эллипс*
    перпендикуляр* параллельн+_прям* подобн+_треугольник* высот+_треугольник* диагонал* шестиугольник* первый_член
    разность_прогрессии знаменател+_прогрессии наименьш+_значени+_функции наибольш+_значени+_функции точк+_минимума
    точк+_максимума geometric_series arithmetic_series infinite_series power_series card_hands aces делятся
    expected_number die_is_rolled fair_die mortgage_payment monthly_payment compound_interest annuity аннуитет*
    ежемесячн+_платеж* платеж+_по_ипотек* сложн+_процент*
  `,
  science: `
    velocity acceleration momentum kinetic_energy friction inclined_plane projectile satellite orbit torque newton_s
    thermodynamic* entropy enthalpy molar moles stoichiometr* titration buffer_solution acetic_acid redox quantum
    schrodinger* wavefunction relativity lorentz capacitor* inductor* resistor* ohm_s voltage circuit_with
    magnetic_flux wavelength half_life radioactive equilibrium_constant mass_of kg_m m_s joule* ускорени* импульс*
    кинетическ* трени+ наклонн+_плоскост* снаряд* спутник* орбит* термодинамик* энтропи* энтальпи* моляр* моль
    титрован* буферн+_раствор* квантов* волнов+_функци* относительност* конденсатор* резистор* напряжени*
    магнитн+_поток* длин+_волны период+_полураспада равновеси* коэффициент+_трения массой скорост+ сопротивлени*
    combustion burned burnt excess_oxygen grams_of сжигани* сжечь сгорани* сгорел* метана кислорода водорода углекисл*
    массов+_дол+ осадок осадка уравнени+_реакци+ transformer_core windings winding spring_constant spring_with
    frictionless incline compression_of трансформатор* обмотк* магнитопровод* витков мощность_двигател* редуктор*
    сечени+_провод* прогиб* балк+ нагрузк+_на_опор* pendulum refractive focal_length capacitance inductance
    magnetic_field electric_field coulomb kirchhoff doppler photon photoelectric ideal_gas specific_heat calorimetr*
    carnot adiabatic isothermal viscosity reynolds buoyan* bending_moment shear_stress transistor op_amp mosfet
    voltage_divider transfer_function bode_plot pid_controller molarity molality pka le_chatelier oxidation_state
    limiting_reagent empirical_formula reaction_mechanism nernst gibbs activation_energy punnett hardy_weinberg
    free_fall initial_velocity thrown_upward centripetal маятник* фокусн+_расстояни* преломлени* индуктивност*
    магнитн+_пол* электрическ+_пол* кулона кирхгоф* фотон* фотоэффект* идеальн+_газ* теплоемкост* адиабат* изотерм*
    вязкост* архимед* транзистор* операционн+_усилител* передаточн+_функци* пид_регулятор* степен+_окислени*
    электронн+_баланс* гидролиз* выход_продукта генотип* скрещива* свободн+_падени* начальн+_скорост* равноускорен*
    центростремительн* объем+_газа
  `,
  expert: `
    quantum superposition entanglement pharmacokinetic* pathophysiology differential_diagnosis diagnosis
    mechanism_of_action receptor* inhibitor* ssri* mrna genome* crispr epigenetic* neurotransmitter* monetary_policy
    fiscal_policy quantitative_easing bond_yields derivatives hedging arbitrage black_scholes option_pricing
    macroeconomic* microeconomic* elasticity antitrust jurisprudence liability tort intellectual_property patent_law
    constitutional epistemolog* ontolog* phenomenolog* metaphysic* hermeneutic* postcolonial structuralism deontolog*
    utilitarian* consequentialis* neural_network* transformer_model attention_mechanism backpropagation
    gradient_descent reinforcement_learning large_language_model* consensus_algorithm raft paxos cap_theorem byzantine
    cryptograph* zero_knowledge elliptic_curve encryption blockchain thermodynamics semiconductor* photovoltaic*
    econometric* game_theory nash_equilibrium heteroskedasticity causal_inference randomized_controlled фармакокинетик*
    патогенез* дифференциальн+_диагностик* дифдиагноз* механизм+_действия рецептор* ингибитор* статин* геном*
    эпигенетик* нейромедиатор* ключев+_ставк* денежно_кредитн* количественн+_смягчен* доходност+_облигац* деривативы
    хеджирован* арбитраж* опцион* макроэкономик* эластичност* антимонопольн* юрисдикци* гк_рф тк_рф ук_рф коап нк_рф
    статья_гк судебн+_практик* субсидиарн* банкротств* эпистемолог* онтолог* феноменолог* герменевтик* утилитаризм*
    нейросет* нейронн+_сет* трансформер* механизм+_внимания обратн+_распространен* градиентн+_спуск*
    обучени+_с_подкреплением консенсус* криптограф* эллиптическ+_крив* шифрован* блокчейн* полупроводник* эконометрик*
    теори+_игр равновеси+_нэша нэша multi_head attention_head* self_attention positional_encod* layer_norm* backprop*
    softmax cross_entropy variational autoencoder* diffusion_model* bayesian posterior_distribution markov_chain
    monte_carlo hidden_markov kalman fourier_transform wavelet eigenvalue_decomposition singular_value
    manifold_hypothesis quantum_field standard_model higgs dark_matter general_relativity spacetime_metric
    string_theory superconduct* band_gap fermi_level crystallograph* spectroscop* chromatograph* enzyme_kinetics
    michaelis_menten signal_transduction apoptosis immunotherap* monoclonal oncogene* metastas* sepsis_protocol
    arrhythmia* electrolyte_imbalance contraindicat* dosage_adjust* anesthes* hepatic renal_failure fiduciary_duty
    proximate_cause res_judicata stare_decisis due_process force_majeure arbitration_clause indemnif* collateralized
    credit_default yield_curve duration_risk capm wacc basel_iii ifrs gaap transfer_pricing categorical_imperative
    dasein qualia hard_problem_of_consciousness modal_logic syntax_tree generative_grammar phonolog* morphosynta*
    sapir_whorf dialectic* historiograph* многоголов* самовниман* позиционн+_кодирован* обратн+_распространени*
    градиентн* байесовск* марковск* монте_карло тензор* гамильтониан* лагранжиан* уравнени+_максвелла
    уравнени+_шредингера теори+_относительности сверхпроводим* спектроскоп* хроматограф* апоптоз* онкоген* иммунотерап*
    противопоказани* субсидиарк* виндикац* реституци* форс_мажор* неустойк* исков+_давност* трансфертн* мсфо рсбу
    категорическ+_императив* экзистенциализм* структурализм* постмодернизм* диалектик* историограф* sample_size
    guardrail* power_analysis stopping_rule statistical_significance statistically_significant размер_выборки
    статистическ+_значим* subrogation estoppel promissory breach_of_contract injunction habeas statute_of_limitations
    hipaa ccpa cap_table convertible_note vesting term_sheet ebitda npv irr sharpe_ratio credit_risk hyponatremia
    hyperkalemia creatinine troponin anticoagul* warfarin heparin copd meta_analysis systematic_review confounder*
    propensity_score instrumental_variable difference_in_differences haemoptysis hemoptysis dyspnea tachycardia lesion
    biopsy кассаци* апелляционн* субординац* неосновательн+_обогащени* цесси* поручительств* креатинин* гиперкалиеми*
    тропонин* антикоагулянт* варфарин* сепсис* хобл метаанализ* систематическ+_обзор* анамнез* этиолог* тахикарди*
    биопси*
  `,
  logic: `
    puzzle logic_puzzle riddle knights knave knaves weighings seating liar liars truth_teller* sits_next sit_in_a_row
    sudoku river_crossing zebra_puzzle who_is_lying logical_fallacy syllogism* if_all conclusion_follows deduc*
    логическ+_задач* головоломк* рыцар* лжец* взвешивани* фальшив+ рассадк* сидят_в_ряд судоку переправ* ребус*
    силлогизм* лжет правду_говорит если_все следует_ли_из следует_ли_отсюда does_it_follow can_we_conclude can_we_infer
    across_a_river across_the_river sequence_of_crossings через_реку переправить monty_hall prisoners_and jugs кувшин*
    колпак* all_labels_are_wrong light_switches
  `,
  clue: `
    each every different exactly neither nor only_one only_two one_of_them older_than younger_than taller_than
    shorter_than heavier_than lighter_than faster_than left_of right_of leftmost rightmost next_to between_them
    to_the_left to_the_right in_front_of behind immediately at_most at_least twice_as as_many_as half_as always_lies
    always_tells always_lie never not doesn_t did_not didn_t isn_t does_not is_not has_not allergic sister sisters
    brother brothers siblings gives_back gave_back gives_me gave_away in_return missing_dollar same_day before_the
    after_the finished_before finished_after ahead_of second_from third_from on_either_side opposite all_of_them
    none_of_them if_the_first statement_is is_lying is_telling the_truth every_day same_time together left_over каждый
    каждая каждое каждого каждому каждой разные разных разного ровно ни_один ни_одна ни_одного только_один только_одна
    только_двое один_из_них одна_из_них двое_из трое_из старше младше выше ниже левее правее слева справа рядом сосед+
    соседн* всегда никогда не кроме с_краю по_краям посередине позже раньше обогнал* впереди позади за_ним перед_ним
    друг_друг* сестр+ брат+ братьев вдвое_больше вдвое_меньше в_два_раза во_столько столько_же поровну все_лгут
    говорит_правду один_и_тот остальные остальных вместе за_минуту за_час напротив we_know_that known_that check_into
    check_in известно_что than before right_after did_not_finish столько сколько_сестер чем_у
  `,
  reasoning: `
    step_by_step show_your_work show_all_steps show_work rigorous* reasoning reason_through chain_of_thought
    think_carefully derive justify full_solution full_derivation explain_your_reasoning explain_the_reasoning work_out
    give_a_rigorous argue prove first_principles formally пошагов* по_шагам шаг_за_шагом рассужда* рассуждени*
    строг+_рассужден* строго_докаж* с_решением полное_решение полным_решением подробное_решение с_обоснованием
    распиши_решение объясни_ход ход_решения аргументированн* обоснуй* вывод_формулы стратеги+_с_доказательством
    из_первых_принципов логически приведите_решение приведи_решение show_the_derivation full_proof
    полное_доказательство с_доказательством including_the_math with_the_math вместе_с_математикой с_выводом_формул
    with_derivation show_your_calculations show_calculations с_расчетами с_расчетом покажи_расчет* с_вычислениями
    show_your_working show_*_calculations show_*_steps show_*_working show_*_derivation полным_обоснованием
    с_полным_обоснованием full_justification полное_обоснование justify_each defend_your justify_your_answer
    explain_your_answer поясни_ответ объясни_ответ обоснуй_ответ
  `,
  basic: `
    perimeter area square circle rectangle triangle cube volume radius diameter side mean average median mode sum
    product difference percent percentage ratio fraction decimal half double speed distance периметр* площад* квадрат*
    круг+ прямоугольник* треугольник* куб+ объем+ радиус* диаметр* сторон* средн+ арифметическ* медиан* сумм+
    произведени* разност* процент* дроб* скорост+ расстояни* square_root cube_root корень_из квадратн+_корень factorial
    факториал*
  `,
  tongue: `
    english german french spanish italian portuguese russian chinese mandarin japanese korean arabic hindi turkish
    polish dutch swedish norwegian danish finnish czech greek hebrew ukrainian kazakh vietnamese thai latin
    indonesian hungarian romanian bulgarian serbian английск* немецк* французск* испанск* итальянск* португальск*
    русск* китайск* японск* корейск* арабск* турецк* польск* казахск* украинск* белорусск* татарск* латын* латинск*
    греческ* финск* шведск* норвежск* голландск* чешск* хинди иврит* узбекск* грузинск* армянск* инглиш
  `,
  measure: `
    feet foot inches inch cm mm meters metres meter kilometers kilometres km miles mile yards kg kilograms grams
    gram pounds lbs ounces oz liters litres ml gallons cups celsius fahrenheit kelvin mph knots acres hectares
    seconds minutes hours euros dollars usd eur rub футов фута футы дюйм* сантиметр* миллиметр* метр* километр* миль
    мили ярд* килограмм* грамм* фунт* унци* литр* миллилитр* галлон* стакан* ложк* градус* цельси* фаренгейт*
    гектар* соток акр* секунд* минут* час+ доллар* евро рубл*
  `,
  care: `
    headache hurts sore pain ache rash fever cough symptoms lonely anxious anxiety depressed sad stressed tired
    exhausted heartbroken insomnia nausea dizzy swollen болит болят боль боли тошнит кружится чешется сыпь кашель
    насморк устал устала тревог* депресс* одинок* грустно плохо_себя выгорани* выгорел* бессонниц* температурит
    опух* воспалил* расста* изменил* поссорил* обидел* ревну*
  `,
  operation: `
    plus minus times multiplied multiply divided percent percentage squared cubed root sqrt умнож* раздел* подели*
    плюс минус процент* корень квадрат* прибав* вычесть отним* делить
  `,
  higher: `
    integral* integrate derivative* differential_equation* eigenvalue* eigenvector* determinant* polynomial* theorem*
    lemma corollary infimum supremum topology topolog* manifold group_theory abelian ring_homomorph* integral_domain
    vector_field eigen* gradient hessian laplace fourier taylor_series lagrange_multiplier* linear_programming
    isomorphi* bijecti* injective surjective functional_equation calculus converge* divergent limit_of limits matrix
    matrices martingale* jacobian stochastic_process poisson_process brownian интеграл* производн* дифференциальн*
    дифур* матриц* собственн+_значени* определител* многочлен* полином* теорем* лемм* сходимост* сходится топологи*
    многообрази* фурье тейлор* лагранж* экстремум* асимптот* матан* матанализ* первообразн* задачу_коши задача_коши
    математическ+_ожидани* матожидан* сумму_ряда сумма_ряда generating_function* производящ+_функци*
    characteristic_function moment_generating how_many_ways in_how_many_ways number_of_ways how_many_different
    how_many_distinct сколькими_способами сколько_способов сколько_различных интегрировани* дифференцировани*
    integration_by маклорен* ряд_тейлора area_under прогрессия прогрессии прогрессию прогрессий сколько_*_способов
    how_many_*_ways сколько_вариантов_* сколько_комбинаций how_many_combinations
  `,
} as const;
