# SPDX-License-Identifier: Apache-2.0
"""text_held.py: what is written on the pages of pages_held.py.

English sentences are put together from the words below, of which none but function words stand in the sentences of pages.py (as a
program, this file says which do: none); "invoice" stands there above a table. Russian, Greek and Chinese are sentences in the order that a seed draws.
"""
NOUNS = """
abbey accountant acorn adviser algorithm almond analysis annex apprentice aqueduct archive artisan asphalt assembly auditor axle bakery
ballast barley basin beaker bench biscuit blanket blueprint boiler botanist boulder bracket brewery brick brochure bulletin cabin
canal candle canopy canvas cargo carpenter cartridge cathedral cement chimney chisel chronicle cistern clay clerk cobbler coil
committee compass compost condenser contract corridor council courier cradle crane crew crop crust curator curriculum cushion
cylinder dairy dam depot dial diagram diary donor draft drawer drill duty editor elbow elevator engraver envelope estimate estuary
excavation exhibit fabric ferry filter flask fleet flour fossil fraction fragment freight furnace gallery gasket gauge generator geologist
glacier glossary grain granary granite gravel guild habitat harvest hatch hedge herb hinge hose hull inspector invoice jacket
jar jury kettle kiln laboratory lantern lathe laundry lawyer ledger lens lever lichen limestone linen lintel loan lodge loom
luggage mason mill mortar mould museum mushroom nursery oak oven parcel parish pavement pedestal pension permit pier pigment pipe plaster
platform plough pollen porch portrait pottery proposal pulley pump quarry quartz quota railway receipt reservoir rim roof rope
rudder sanctuary sawmill scaffold scholar sculpture sediment shelf shovel sketch slope sluice soap spade spindle spire stable statute
survey switch tanker tariff tenant terrace textile theorem thesis tile timber toll topsoil tractor treaty trench trough tunnel turbine
turnip vault vehicle vendor verdict viaduct vineyard warehouse weaver wharf willow windmill wire workshop yarn zone
""".split()
VERBS = """
adapted adjusted allocated altered announced approved assessed assigned audited balanced bolted borrowed cancelled carved
catalogued classified coated combined compiled composed conceded confirmed converted cooled coordinated corrected counted
curved damaged dated declined delayed demolished detected detached diverted donated drained enclosed endorsed enlarged
estimated evaluated examined exported extended fastened filed fitted forecast funded glazed hauled hoisted identified
imported insulated insured invented labelled launched leased levelled loaded located lowered mapped merged mixed monitored
negotiated obtained omitted overlooked packed patched piloted planned polished postponed predicted pressed priced published
purchased rebuilt recovered recycled refunded removed rented repaired replaced restored retained revised sealed settled shipped
sketched soldered stacked stored tested tightened translated trimmed unloaded upgraded verified vetoed welded widened wrapped
""".split()
ADJECTIVES = """
abandoned abundant accurate adequate agile alpine ample ancient annual anonymous arid artificial authentic average awkward
barren basic blunt brittle broad bulky calm careful cautious civic clumsy coarse compact concise convex costly crisp crude curious
decent delicate dense diagonal diligent domestic dormant dual durable dusty elaborate elastic elegant eligible eminent erratic
faint fertile flat flexible foggy fragile frugal generous genuine gloomy gradual handy hollow humble humid idle immense
initial intact internal joint lavish legal liable lively local loyal magnetic mature medieval mild modest mutual naval neat
nimble obscure obvious odd official optical oval partial patient permanent plain polite porous precise previous prior rapid rare
reliable remote rigid robust rural rustic scarce seasonal shallow sincere slender smooth solid spare spiral stable steady
sturdy subtle suitable superb temporary tidy tight tiny transparent uneven urban vacant vague valid vast vivid voluntary
wealthy wide worn
""".split()
ADVERBS = """
abruptly annually arguably barely briefly broadly carefully chiefly deliberately entirely eventually evidently formally frequently
gradually hardly jointly largely locally merely mostly neatly nominally officially partly presumably previously promptly properly
rapidly rarely roughly seldom seemingly slightly somewhat steadily strictly thoroughly typically
""".split()
PLACES = """
Aldermoor Ashcombe Bexworth Brackley Calderwick Coldbrook Dunmere Eastleigh Fernhollow Garswood Hazelmere Inverdale Kelso Larkhill
Marlow Netherby Oakhampton Penrith Ravenscar Selwyn Thornbury Ulverton Wexcombe Yarrowby
""".split()
PEOPLE = """
Abernathy Baptiste Castellano Drummond Eriksson Fairweather Goldsmith Hathaway Ibrahim Jankowski Kowalczyk Lindqvist Montgomery
Nakamura Okonkwo Pemberton Quigley Rosenthal Szymanski Tremblay Underhill Vasquez Whitaker Zimmerman
""".split()
FRAMES = (
    "the {a} {n} was {v} by the {n} from {p}",
    "{m} {v} the {a} {n} and the {n} of {p}",
    "{d}, the {n} had been {v} with a {a} {n}",
    "no {n} is {a} if its {n} cannot be {v}",
    "a {n} of {q} {a} pieces was {d} {v} near the {n}",
    "the {n} that {m} {v} in {y} was {d} {a}",
    "we {v} every {n} on the {a} {n}, but {d} the {n}",
    "both the {n} and the {n} were {v}, though {d} {a}",
    "in {p} the {a} {n} costs {q} per cent of a {n}",
    "since {y} the {n} has been {d} {v} for its {a} {n}",
    "of {q} {a} items the {n} {v} only a {n}",
    "whoever {v} the {n} gave {m} a {a} {n}",
)


def clause(rng):
    out = rng.choice(FRAMES)
    while "{" in out:
        at = out.index("{")
        kind = {"a": ADJECTIVES, "n": NOUNS, "v": VERBS, "d": ADVERBS, "p": PLACES, "m": PEOPLE}.get(out[at + 1])
        word = rng.choice(kind) if kind else str(rng.randint(1890, 2019) if out[at + 1] == "y" else rng.randint(11, 98))
        before = out[:at]
        if before.endswith(" a ") and word[0] in "aeiou":
            before = before[:-1] + "n "
        out = before + word + out[at + 3:]
    return out


def sentence(rng):
    text = clause(rng)
    if rng.random() < 0.35:
        text += rng.choice(("; ", ", while ", ", because ", ", and ")) + clause(rng)
    return text[0].upper() + text[1:] + "."


def paragraph(rng, words):
    """Whole sentences, of that many words or a few more, as a list of words."""
    out = []
    while len(out) < words:
        out += sentence(rng).split()
    return out


def title(rng, words=4):
    """Adjectives and nouns, with capitals."""
    out = [rng.choice(NOUNS if n % 2 else ADJECTIVES).capitalize() for n in range(words - 1)] + [rng.choice(NOUNS).capitalize()]
    return " ".join(out)


RUSSIAN = """
Весной сотрудники музея начали разбирать старый склад у железной дороги.
В ящиках лежали чертежи мостов, письма инженеров и несколько стеклянных пластинок.
Каждый лист пришлось осторожно очистить от пыли и описать в отдельной тетради.
Оказалось, что большая часть документов относится к строительству северного канала.
Архивариус заметила, что подписи на двух планах не совпадают.
Через неделю приехал специалист, который умеет читать выцветшие чернила.
Он предложил фотографировать страницы при боковом освещении.
Так удалось восстановить таблицу с ценами на кирпич, известь и дубовые брусья.
Рабочим платили по субботам, а зимой выдавали тёплую одежду.
На последней странице кто-то нарисовал карандашом маленький пароход.
Теперь выставку готовят к открытию, и посетители увидят эти находки осенью.
Стоимость перевозки оказалась ниже, чем указано в отчёте комитета.
Жители соседней деревни помнят, где раньше стояла водяная мельница.
Если погода позволит, экспедиция отправится туда в следующем месяце.
Список участников утверждён, палатки и приборы уже получены.
""".strip().splitlines()
GREEK = """
Το μικρό λιμάνι βρίσκεται στη βόρεια πλευρά του νησιού, πίσω από τον παλιό φάρο.
Κάθε πρωί οι ψαράδες απλώνουν τα δίχτυα τους πάνω στην προβλήτα.
Το καφενείο ανοίγει νωρίς και σερβίρει ψωμί, ελιές και φρέσκο τυρί.
Πέρυσι ο δήμος αποφάσισε να επισκευάσει τη γέφυρα και τον κεντρικό δρόμο.
Οι εργασίες διήρκεσαν επτά μήνες και κόστισαν λιγότερο από όσο υπολόγιζαν.
Ο δάσκαλος του χωριού συγκέντρωσε φωτογραφίες από εκείνη την εποχή.
Σε μία από αυτές φαίνεται ένα καράβι φορτωμένο με ξυλεία και κεραμίδια.
Η βιβλιοθήκη δέχτηκε τη συλλογή και ετοιμάζει έναν κατάλογο για τους επισκέπτες.
Το καλοκαίρι φυσάει δυνατός άνεμος και τα δρομολόγια συχνά καθυστερούν.
Όποιος θέλει να περπατήσει ως το μοναστήρι χρειάζεται νερό και καλά παπούτσια.
Από την κορυφή του λόφου διακρίνονται τρία ερημικά νησιά.
Οι κάτοικοι φυτεύουν αμπέλια, συκιές και αμυγδαλιές στις πεζούλες.
Τον χειμώνα η βροχή γεμίζει τις δεξαμενές που έχτισαν οι παππούδες τους.
Ένας νεαρός μηχανικός μελετά πώς θα παράγεται ρεύμα από τα κύματα.
Η απόφαση θα δημοσιευθεί μετά τη συνεδρίαση του συμβουλίου.
""".strip().splitlines()
CHINESE = """
春天的时候，河边的小镇开始修理旧桥。
工人们把木板一块一块地换成新的石头。
老师带着学生来参观，并且写下他们看到的事情。
图书馆里保存着许多关于这座桥的资料。
一百年前，商人用船把茶叶和布运到南方。
当地的居民说，冬天的雾常常使船只迷路。
今年的预算比去年增加了三成，所以工程进行得很快。
市场上卖的苹果和橘子都来自附近的农场。
医生建议老人每天早上在公园里散步。
新的车站离广场只有五分钟，交通非常方便。
晚上，灯光照在水面上，很多人停下来拍照。
研究人员发现，水的质量已经明显改善。
会议决定明年继续这项工作，并邀请更多的专家参加。
孩子们最喜欢的是桥下面的那条小路。
如果天气好，我们打算星期六去山上看日出。
""".strip().splitlines()


def sentences_of(lines, rng, count):
    """That many of the sentences, each once before one comes again."""
    out = []
    while len(out) < count:
        out += rng.sample(lines, len(lines))
    return out[:count]


if __name__ == "__main__":
    from pages import WORDS
    print("words that pages.py has, too:", sorted(set(WORDS) & {w.lower() for w in NOUNS + VERBS + ADJECTIVES + ADVERBS + PLACES}) or "none")
    print("function words of pages.py in the frames:", sorted(set(WORDS) & set(" ".join(FRAMES).split())))
