# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# doxygen reads the headers and docs/api.md through this filter.
# The first comment of a header describes the file. A line that begins with a tab is an example.
2s#^/\*\**$#/** @file#
s#^ \*\t# *         #
# The page begins with an identifier, since that of doxygen contains the directory.
1s/^# .*/& {#mainpage}/
# A link to a header leads to its page. The other documents are not part of the HTML.
s#\[`([a-z_/-]+\.h)`\]\(\.\./(emu/)?include/([a-z_/-]+\.h)\)#@ref \3 "\1"#g
s#\[([a-z-]+\.md)\]\(([a-z]+/)?[a-z-]+\.md\)#`\1`#g
