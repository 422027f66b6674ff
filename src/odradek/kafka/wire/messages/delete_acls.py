"""DeleteAcls (key 31, versions 0-3, flexible from 2).

Remove the access rules that match a filter.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int8, Int16, Int32, Message, String, Struct, field


class DeleteAclsFilter(Struct):
    resource_type_filter: Int8
    resource_name_filter: String | None
    pattern_type_filter: Int8 = field("1+", default=3)
    principal_filter: String | None
    host_filter: String | None
    operation: Int8
    permission_type: Int8


class DeleteAclsRequest(Message, api_key=31, versions="0-3", flexible="2+"):
    filters: list[DeleteAclsFilter]


class DeleteAclsMatchingAcl(Struct):
    error_code: Int16
    error_message: String | None
    resource_type: Int8
    resource_name: String
    pattern_type: Int8 = field("1+", default=3)
    principal: String
    host: String
    operation: Int8
    permission_type: Int8


class DeleteAclsFilterResult(Struct):
    error_code: Int16
    error_message: String | None
    matching_acls: list[DeleteAclsMatchingAcl]


class DeleteAclsResponse(Message, api_key=31, versions="0-3", flexible="2+"):
    throttle_time_ms: Int32
    filter_results: list[DeleteAclsFilterResult]
