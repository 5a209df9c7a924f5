"""How a question is taken apart: the things it asks, and the papers it asks them of."""

import pytest

from rag_assets.question_descriptions import Described, described
from rag_assets.questions import MOST_PARTS, asks_about_publication, question_parts


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How many sheep were bled in Hill County, and in which months did they graze?",
            ["How many sheep were bled in Hill County?", "in which months did they graze?"],
        ),
        (
            "By how much did iron rise with grass, and by how much with hay?",
            ["By how much did iron rise with grass?", "By how much did iron rise with hay?"],
        ),
        (
            "How much iron had the sheep in the northern flock and in the southern flock?",
            [
                "How much iron had the sheep in the northern flock?",
                "How much iron had the sheep in the southern flock?",
            ],
        ),
        (
            "Which raises ferritin more, grass or hay?",
            ["Which raises ferritin more, grass?", "Which raises ferritin more, hay?"],
        ),
        (
            "How do shepherds score on GrazeQA and on HayBench?",
            ["How do shepherds score on GrazeQA?", "How do shepherds score on HayBench?"],
        ),
        (
            "What do the winter flock study and the hay review say about lambs?",
            ["What does the winter flock study say about lambs?", "What does the hay review say about lambs?"],
        ),
        (
            "What did grass change, on the one hand for ewes, on the other hand for lambs?",
            ["What did grass change for ewes?", "What did grass change for lambs?"],
        ),
        (
            "Which tools do the hill trial and the survey of lambs use for weighing?",
            [
                "Which tools does the hill trial use for weighing?",
                "Which tools does the survey of lambs use for weighing?",
            ],
        ),
        (
            "Did both the hill farm audit and the trial of hay have a control group?",
            ["Did the hill farm audit have a control group?", "Did the trial of hay have a control group?"],
        ),
        (
            "What do the study of lamb health and the one on test weighing say about hay?",
            [
                "What does the study of lamb health say about hay?",
                "What does the one on test weighing say about hay?",
            ],
        ),
        (
            "How old were the ewes in the hill study and the rams in the feeding experiments?",
            ["How old were the ewes in the hill study?", "How old were the rams in the feeding experiments?"],
        ),
        (
            "How do the sample sizes of the study on ewes and the one on rams differ?",
            [
                "How many participants were there in the study on ewes?",
                "How many participants were there in the one on rams?",
            ],
        ),
        (
            "Are both the hay trial and the grass survey funded by farmers?",
            ["Is the hay trial funded by farmers?", "Is the grass survey funded by farmers?"],
        ),
        (
            "Do the hill studies and the people of the valley trial weigh lambs?",
            ["Do the hill studies weigh lambs?", "Do the people of the valley trial weigh lambs?"],
        ),
        (
            "Which came first, the hay trial or the census of ewes? Give both dates.",
            ["When was the hay trial?", "When was the census of ewes?"],
        ),
        (
            "Which was published earlier: the study of ewes or the review of hay?",
            ["When was the study of ewes published?", "When was the review of hay published?"],
        ),
        (
            "Which lasted longer, the hay trial or the survey of ewes?",
            ["How long did the hay trial last?", "How long did the survey of ewes last?"],
        ),
        ("Which is cheaper, hay or grass?", ["How expensive is hay?", "How expensive is grass?"]),
        (
            "Which software weighed the ewes, and which one counted the rams?",
            ["Which software weighed the ewes?", "which software counted the rams?"],
        ),
        (
            "How many ewes were in the hill trial, and how many rams in the valley trial? State both numbers.",
            ["How many ewes were in the hill trial?", "how many rams in the valley trial?"],
        ),
        (
            "Is the count of ewes at Hill Farm greater than the count of rams at Valley Farm?",
            ["How many ewes at Hill Farm?", "How many rams at Valley Farm?"],
        ),
        (
            "Was the flock of Hill Farm, on average, older than the flock of Valley Farm?",
            ["How old was the flock of Hill Farm?", "How old was the flock of Valley Farm?"],
        ),
        (
            "Did weighing lambs at Hill Farm take longer than bleeding rams in Iceland?",
            ["How long did weighing lambs at Hill Farm take?", "How long did bleeding rams in Iceland take?"],
        ),
        (
            "Does the Hill manuscript have more leaves than the Dresden book has pages?",
            ["How many leaves does the Hill manuscript have?", "How many pages has the Dresden book?"],
        ),
        (
            "Were more ewes weighed by the Hill team than rams bled by the Valley team?",
            ["How many ewes weighed by the Hill team?", "How many rams bled by the Valley team?"],
        ),
        (
            "Whose ewes come from more farms: Hill College's or Valley College's?",
            ["How many farms do Hill College's ewes come from?", "How many farms do Valley College's ewes come from?"],
        ),
        (
            "Which has more pages: the old book kept in Dresden, or the new one kept in Rome?",
            ["How many pages has the old book kept in Dresden?", "How many pages has the new one kept in Rome?"],
        ),
        ("Were ewes older than rams?", ["Were ewes older than rams?"]),
        ("Did the fed ewes grow faster than the other ewes?", ["Did the fed ewes grow faster than the other ewes?"]),
        (
            "Which classmates help ewes more, boys or girls?",
            ["Which classmates help ewes more, boys?", "Which classmates help ewes more, girls?"],
        ),
        (
            "What do the herders of the valley and the vets of the town each say of hay?",
            ["What do the herders of the valley say of hay?", "What do the vets of the town say of hay?"],
        ),
        (
            "Where was the hay bought for both the hill ewes and the valley rams?",
            ["Where was the hay bought for the hill ewes?", "Where was the hay bought for the valley rams?"],
        ),
        ("Was iron low in both ewes and rams?", ["Was iron low in both ewes and rams?"]),
        (
            "How old were the ewes at the Hill Farm compared with the Valley Farm?",
            ["How old were the ewes at the Hill Farm?", "How old were the ewes at the Valley Farm?"],
        ),
        (
            "Did iron rise in the third week compared with the first week?",
            ["Did iron rise in the third week compared with the first week?"],
        ),
        (
            "average age, ewes of Hill Farm vs. rams of Valley Farm",
            ["average age: ewes of Hill Farm?", "average age: rams of Valley Farm?"],
        ),
        (
            "Compare the headcounts of Hill Farm and Valley Farm.",
            ["What were the headcounts in Hill Farm?", "What were the headcounts in Valley Farm?"],
        ),
        (
            "What does a night at Hill Farm cost; how much hay must guests of Valley Farm bring?",
            ["What does a night at Hill Farm cost?", "how much hay must guests of Valley Farm bring?"],
        ),
        (
            "Where were the ewes of Hill Farm bought, and since when has Valley Farm kept rams?",
            ["Where were the ewes of Hill Farm bought?", "since when has Valley Farm kept rams?"],
        ),
        (
            "Recording: what weighed the ewes of the hill, what counted the rams of the valley?",
            ["Recording: what weighed the ewes of the hill?", "Recording: what counted the rams of the valley?"],
        ),
        (
            "Hill Farm sold how many ewes last year? Valley Farm bought how many rams instead?",
            ["Hill Farm sold how many ewes last year?", "Valley Farm bought how many rams instead?"],
        ),
        (
            "How much was paid for hay? Use what is shown in the table.",
            ["How much was paid for hay? Use what is shown in the table."],
        ),
        (
            "Who runs Hillfarm, and which director of Valleyfarm left last year?",
            ["Who runs Hillfarm?", "which director of Valleyfarm left last year?"],
        ),
        (
            "Which ewes strengthen and which weaken the flock of the hill?",
            ["Which ewes strengthen and which weaken the flock of the hill?"],
        ),
        ("When the ewes were weighed, what was found?", ["When the ewes were weighed, what was found?"]),
        ("How do hay and grass complement each other?", ["How do hay and grass complement each other?"]),
        (
            "How do the hill and the valley herds on hay help each other thrive?",
            ["How do the hill and the valley herds on hay help each other thrive?"],
        ),
        (
            "Was the ewe of Hillfarm weighed by more people than there were vets at Valleyfarm?",
            ["How many people was the ewe of Hillfarm weighed by?", "How many vets at Valleyfarm?"],
        ),
        (
            "Was the hay trial longer than the grass trial?",
            ["How long was the hay trial?", "How long was the grass trial?"],
        ),
        (
            "Which finished earlier: the flock fed on hay alone, or the flock fed on grass alone?",
            ["When did the flock fed on hay alone finish?", "When did the flock fed on grass alone finish?"],
        ),
        (
            "Who were more numerous: the ewes of Hillfarm or the rams of Valleyfarm?",
            ["How many were the ewes of Hillfarm?", "How many were the rams of Valleyfarm?"],
        ),
        (
            "Which took longer, the hay trial or the survey of ewes?",
            ["How long did the hay trial take?", "How long did the survey of ewes take?"],
        ),
        (
            "Who uses more tools, Hillfarm or Valleyfarm?",
            ["How many tools did Hillfarm use?", "How many tools did Valleyfarm use?"],
        ),
        (
            "Which sheep bells rang earlier, hill ones or valley ones?",
            ["Which sheep bells rang earlier, hill ones?", "Which sheep bells rang earlier, valley ones?"],
        ),
        (
            "When and where were the ewes of Hill Farm shorn?",
            ["When were the ewes of Hill Farm shorn?", "where were the ewes of Hill Farm shorn?"],
        ),
        (
            "By whom and how often were the ewes weighed?",
            ["By whom were the ewes weighed?", "how often were the ewes weighed?"],
        ),
        (
            "Which breed did the hill trial use, and which one the study of rams?",
            ["Which breed did the hill trial use?", "which breed did the study of rams use?"],
        ),
        (
            "Which breed did the hill trial use, and which one was left out?",
            ["Which breed did the hill trial use?", "which breed was left out?"],
        ),
        (
            "Which was larger: the number of vets who weighed ewes in the hill trial or the flock of the valley study?",
            ["How many vets weighed ewes in the hill trial?", "How large was the flock of the valley study?"],
        ),
        (
            "Which was bigger, the group of vets who answered the poll or the ewes weighed in the Valley, and how "
            "large was each?",
            ["How many vets answered the poll?", "How many ewes weighed in the Valley?"],
        ),
        (
            "Which is older: the hill trial or the valley study, and by how much?",
            ["How old is the hill trial?", "How old is the valley study?"],
        ),
        (
            "Which is older, the hill trial or the valley study, and how heavy is each?",
            [
                "How old is the hill trial?",
                "How old is the valley study?",
                "how heavy is each (the hill trial)?",
                "how heavy is each (the valley study)?",
            ],
        ),
        (
            "Which is older, the hill trial or the valley study, and how old is each?",
            ["How old is the hill trial?", "How old is the valley study?"],
        ),
        (
            "In the months until March, how much wool was sold on the farm compared to the same months before?",
            ["In the months until March, how much wool was sold on the farm compared to the same months before?"],
        ),
        (
            "How many ewes were bled in the first winter, and how old was each?",
            ["How many ewes were bled in the first winter?", "how old was each?"],
        ),
        (
            "Is the number of ewes greater than the number of rams?",
            ["Is the number of ewes greater than the number of rams?"],
        ),
        (
            "Compare the number of vets: weighing of ewes in spring versus bleeding of sheep in winter",
            ["the number of vets: weighing of ewes in spring?", "the number of vets: bleeding of sheep in winter?"],
        ),
        (
            "Compare the number of vets: ewes in spring versus rams in winter",
            ["Compare the number of vets: ewes in spring versus rams in winter"],
        ),
        (
            "Which breed is older, and how long does each live?",
            ["Which breed is older?", "how long does each live?"],
        ),
        (
            "In which flock was the share of rams lower: in the hill trial or among the sheep of Valley Farm?",
            [
                "What was the share of rams in the hill trial?",
                "What was the share of rams among the sheep of Valley Farm?",
            ],
        ),
        (
            "Where is rain heavier, in spring or in autumn?",
            ["How heavy is rain in spring?", "How heavy is rain in autumn?"],
        ),
        (
            "Which breed did the hill trial use, and which one the study of rams did not want?",
            ["Which breed did the hill trial use?", "which breed the study of rams did not want?"],
        ),
        ("Where is rain heavier: in spring or in autumn?", ["Where is rain heavier: in spring or in autumn?"]),
        (
            "What limits do the hay meta-analysis and the grass study each name?",
            ["What limits does the hay meta-analysis name?", "What limits does the grass study name?"],
        ),
        (
            "Hill Farm sold how many ewes? And Valley Farm bought how many rams?",
            ["Hill Farm sold how many ewes?", "Valley Farm bought how many rams?"],
        ),
        (
            "What is the difference in birth weight between the hill trial and the valley trial?",
            ["What was the birth weight in the hill trial?", "What was the birth weight in the valley trial?"],
        ),
        (
            "How does attrition differ between the hay trial and the trial of grass?",
            ["What was the attrition in the hay trial?", "What was the attrition in the trial of grass?"],
        ),
        (
            "How does the age of the ewes in the hay trial compare with that in the trial of grass?",
            ["What was the age of the ewes in the hay trial?", "What was the age of the ewes in the trial of grass?"],
        ),
        (
            "How do the hay trial and the trial of grass differ in design?",
            ["What was the design in the hay trial?", "What was the design in the trial of grass?"],
        ),
        (
            "Were both the hay trial and the grass survey funded by farmers?",
            ["Was the hay trial funded by farmers?", "Was the grass survey funded by farmers?"],
        ),
        (
            "How many ewes took part in the hay trial and the grass survey?",
            ["How many ewes took part in the hay trial?", "How many ewes took part in the grass survey?"],
        ),
        (
            "Compare the age of the ewes of the hill trial with that of the valley survey.",
            ["What was the age of the ewes in the hill trial?", "What was the age of the ewes in the valley survey?"],
        ),
        (
            "Which of the two studies recruited more ewes, the one on hay or the one on grass?",
            ["How many ewes were there in the one on hay?", "How many ewes were there in the one on grass?"],
        ),
        (
            "Which study had more ewes: the one on hay or the one on grass?",
            ["How many ewes were there in the one on hay?", "How many ewes were there in the one on grass?"],
        ),
        (
            "Who signed up the larger number of ewes, the hay trial or the grass survey?",
            ["How many ewes were there in the hay trial?", "How many ewes were there in the grass survey?"],
        ),
        (
            "Who drew the larger sample, the hay trial or the grass survey?",
            [
                "How many participants were there in the hay trial?",
                "How many participants were there in the grass survey?",
            ],
        ),
        (
            "Which of the two studies, the hay study or the grass study, was paid for by farmers?",
            ["Which was paid for by farmers, the hay study?", "Which was paid for by farmers, the grass study?"],
        ),
        (
            "Did the hay study or the grass study have more ewes?",
            ["How many ewes were there in the hay study?", "How many ewes were there in the grass study?"],
        ),
        (
            "To which breeds do the authors of the hill study and of the valley tests want to go on?",
            [
                "To which breeds do the authors of the hill study want to go on?",
                "To which breeds do the authors of the valley tests want to go on?",
            ],
        ),
        (
            "Which pauses do the milking manual and the shearing manual prescribe: before feeding, and after washing?",
            [
                "Which pauses does the milking manual prescribe: before feeding?",
                "Which pauses does the shearing manual prescribe: after washing?",
            ],
        ),
        (
            "How long did one bleeding of the ewes last, and how long one weighing of the rams?",
            ["How long did one bleeding of the ewes last?", "How long did one weighing of the rams last?"],
        ),
        (
            "In which pasture were the ewes, and in which the rams?",
            ["In which pasture were the ewes?", "In which pasture were the rams?"],
        ),
        (
            "With which program was the hay model fitted, and with which were the scores of the rams worked out?",
            [
                "With which program was the hay model fitted?",
                "with which program were the scores of the rams worked out?",
            ],
        ),
        (
            "How many breeds does the hay trial use, and roughly how many rams were sold to test the scale?",
            ["How many breeds does the hay trial use?", "roughly how many rams were sold to test the scale?"],
        ),
        (
            "What must shepherds pay to get hay, and in the wool review, what share of ewes see a vet?",
            ["What must shepherds pay to get hay?", "in the wool review, what share of ewes see a vet?"],
        ),
        (
            "How long did the hay trial last? How many rams were weighed in the valley survey?",
            ["How long did the hay trial last?", "How many rams were weighed in the valley survey?"],
        ),
        (
            "At what age are ewes shorn on the hills, and at roughly what age are rams sold?",
            ["At what age are ewes shorn on the hills?", "at roughly what age are rams sold?"],
        ),
        (
            "What share of ewes fell ill in the hay trial and, in the valley survey, how many rams died?",
            ["What share of ewes fell ill in the hay trial?", "in the valley survey, how many rams died?"],
        ),
        (
            "How many ewes does the hay trial report, and according to the valley survey, how many died?",
            ["How many ewes does the hay trial report?", "according to the valley survey, how many died?"],
        ),
        (
            "How many ewes took part in the hay trial, while how many rams were in the valley survey?",
            ["How many ewes took part in the hay trial?", "how many rams were in the valley survey?"],
        ),
        (
            "How many ewes did the hay trial weigh, but how many did the wool survey shear?",
            ["How many ewes did the hay trial weigh?", "how many did the wool survey shear?"],
        ),
        (
            "Under what licence were the hay trial and the survey of valley farms carried out?",
            [
                "Under what licence was the hay trial carried out?",
                "Under what licence was the survey of valley farms carried out?",
            ],
        ),
        (
            "What was measured in the ewes, and what was measured in the rams?",
            ["What was measured in the ewes?", "what was measured in the rams?"],
        ),
        (
            "Did the treated flock and the control flock of the hay trial differ?",
            ["Did the treated flock and the control flock of the hay trial differ?"],
        ),
        ("What did the study of ewes and lambs find?", ["What did the study of ewes and lambs find?"]),
        ("Which is harder to keep: ewes or rams?", ["Which is harder to keep: ewes or rams?"]),
        ("How do ewes and lambs differ in the hay trial?", ["How do ewes and lambs differ in the hay trial?"]),
        ("What do ewes lose in winter and in spring?", ["What do ewes lose in winter and in spring?"]),
        ("How does iron move between the gut and the blood?", ["How does iron move between the gut and the blood?"]),
        ("Summarise the paper on sheep and how they graze.", ["Summarise the paper on sheep and how they graze."]),
    ],
)
def test_a_question_about_two_things_is_two_questions(question: str, parts: list[str]) -> None:
    """An answer about one of them looks whole, and no sentence is about both."""
    assert [part.text for part in question_parts(question)] == parts


@pytest.mark.parametrize(
    ("question", "left"),
    [
        (
            "How many sheep were bled in the study of iron among mountain flocks?",
            Described("How many sheep were bled?", "the study of iron among mountain flocks"),
        ),
        (
            "Does grass raise ferritin, according to the hill farm survey?",
            Described("Does grass raise ferritin?", "the hill farm survey"),
        ),
        (
            "How many ewes did the wool survey weigh?",
            Described("How many ewes did weigh?", "the wool survey"),
        ),
        (
            "in the wool review, what share of ewes see a vet?",
            Described("what share of ewes see a vet?", "the wool review"),
        ),
        (
            "How many sheep did the study of winter grazing start with?",
            Described("How many sheep did start with?", "the study of winter grazing"),
        ),
        (
            "How many sheep were in the final samples of the grazing experiments?",
            Described("How many sheep were in the final samples?", "the grazing experiments"),
        ),
        (
            "What does the hay review say about lambs?",
            Described("What does say about lambs?", "the hay review"),
        ),
        (
            "Which breeds were compared in the sheep weighing manual?",
            Described("Which breeds were compared?", "the sheep weighing manual"),
        ),
        (
            "What did the wool survey leave out of its plan?",
            Described("What did leave out of its plan?", "the wool survey"),
        ),
        (
            "How did the herders of the ewe game with dice get their hay?",
            Described("How did the herders with dice get their hay?", "the ewe game"),
        ),
        ("What did most herders eat in the trial of hay?", Described("What did most herders eat?", "the trial of hay")),
        ("What is cooked in the student guide?", Described("What is cooked?", "the student guide")),
        ("What was the weakness of the vaccination work?", Described("What was the weakness?", "the vaccination work")),
        (
            "What is needed for the pump to work with steam?",
            Described("What is needed for the pump to work with steam?", ""),
        ),
        ("What is needed for the pump to work?", Described("What is needed for the pump to work?", "")),
        ("What is mixed with the work during the day?", Described("What is mixed with the work during the day?", "")),
        ("Does iron help in a randomised trial?", Described("Does iron help in a randomised trial?", "")),
        ("In the study of sheep?", Described("In the study of sheep?", "")),
        (
            "Who funded the Dutch research on lambs in spring?",
            Described("Who funded it?", "the Dutch research on lambs in spring"),
        ),
        ("and who paid for the hay trial?", Described("and who paid for it?", "the hay trial")),
        ("Which committee approved the ewe study?", Described("Which committee approved it?", "the ewe study")),
        ("Who funded the new barn?", Described("Who funded the new barn?", "")),
        ("What evidence supported the thesis of iron?", Described("What evidence supported the thesis of iron?", "")),
    ],
)
def test_the_description_of_a_paper_is_told_from_what_is_asked_of_it(question: str, left: Described) -> None:
    """Its words stand everywhere in that paper, and outweigh the few that say what is wanted."""
    assert described(question) == left


def test_a_part_that_describes_no_paper_is_asked_of_those_that_the_others_describe() -> None:
    """ "How old were they?" alone finds the age of anybody."""
    question = "How many sheep took part, and how old were they, in the hill study and in the valley study?"

    parts = question_parts(question)

    assert [(part.asked, part.about) for part in parts] == [
        ("How many sheep took part?", "the hill study"),
        ("How many sheep took part?", "the valley study"),
        ("how old were they?", "the hill study"),
        ("how old were they?", "the valley study"),
    ]


def test_a_part_with_a_name_of_its_own_is_not_asked_of_another_paper() -> None:
    """The other paper would be searched for something that it never names."""
    question = "Which engine did GrazeBot rely on for searching, and how old were sheep in the hill study?"

    first, second = question_parts(question)

    assert (first.about, second.about) == ("", "the hill study")


@pytest.mark.parametrize(
    "question",
    [
        "How were sheep found for the hill experiments and for the winter feeding?",
        "How were sheep found for the winter feeding and for the hill experiments?",
    ],
)
def test_beside_a_study_the_other_thing_stands_for_a_paper_too(question: str) -> None:
    """It was looked for in the paper of the first side, or its words outweighed what is asked of it."""
    parts = question_parts(question)

    assert {part.about for part in parts} == {"the hill experiments", "the winter feeding"}
    assert [part.asked for part in parts] == ["How were sheep found?"] * 2


def test_what_authors_do_is_not_asked_of_their_title_pages() -> None:
    """A line of names was the answer to what two teams want to do next."""
    assert not asks_about_publication("Which breeds do the authors of the hill study want to bleed next?")
    assert asks_about_publication("Who are the authors of the hill study?")


def test_a_question_of_any_length_is_taken_apart_at_once() -> None:
    """The words of a stranger must not stop a server: a long one is asked as it is."""
    long = "how does the a and the study on b in " * 100

    assert [part.text for part in question_parts(long)] == [long]


def test_a_question_has_a_limited_number_of_parts() -> None:
    """Each part is searched and read for itself: hundreds of them would keep a server busy for minutes."""
    parts = [f"how many ewes grazed in year {n}" for n in range(MOST_PARTS + 1)]

    assert len(question_parts("; ".join(parts[:-1]))) == MOST_PARTS
    assert len(question_parts("; ".join(parts))) == 1


def test_braces_in_a_question_are_text() -> None:
    """Formulas have braces, which must not be taken for places to fill in."""
    parts = question_parts("Is the {x} of Hill Farm larger than the {y} of Valley Farm?")

    assert [part.text for part in parts] == [
        "How large is the {x} of Hill Farm?",
        "How large is the {y} of Valley Farm?",
    ]
