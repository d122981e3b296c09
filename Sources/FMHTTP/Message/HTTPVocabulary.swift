// HTTP types of SwiftNIO. They are re-exported one by one, so that code that imports FMHTTP can use them without
// importing NIOHTTP1, whose codecs it does not need.
@_exported public import struct NIOHTTP1.HTTPHeaders
@_exported public import enum NIOHTTP1.HTTPMethod
@_exported public import struct NIOHTTP1.HTTPResponseHead
@_exported public import enum NIOHTTP1.HTTPResponseStatus
