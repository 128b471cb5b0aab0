"""python -m fmumbs.cli"""

from fmumbs.cli import main

main()
