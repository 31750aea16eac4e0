# An ACL image may drop VARIANT_ID and be known by ID_LIKE=flatcar alone.
ARG BASE
FROM ${BASE}
RUN sed -i '/^VARIANT/d' /usr/lib/os-release
