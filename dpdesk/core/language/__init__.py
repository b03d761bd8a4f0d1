"""Words in the reader's language: catalogues, who speaks, numbers.

What is stored is English and stays so: manifests, evidence and signatures say the same in every
language. A page or a window translates where it is drawn. :func:`speaking` sets the language of
what is drawn inside it, :func:`voice` is who speaks there.
"""

from dpdesk.core.language.catalogue import ENGLISH as ENGLISH
from dpdesk.core.language.catalogue import Catalogue as Catalogue
from dpdesk.core.language.catalogue import languages as languages
from dpdesk.core.language.catalogue import read_catalogue as read_catalogue
from dpdesk.core.language.speaker import Untranslated as Untranslated
from dpdesk.core.language.speaker import Voice as Voice
from dpdesk.core.language.speaker import is_said as is_said
from dpdesk.core.language.speaker import listening as listening
from dpdesk.core.language.speaker import message as message
from dpdesk.core.language.speaker import speaking as speaking
from dpdesk.core.language.speaker import voice as voice
from dpdesk.core.language.speaker import voice_of as voice_of
