// The words of HTTP are SwiftNIO's: whoever imports FMHTTP can name them without importing NIOHTTP1, whose codecs are
// none of their business.
@_exported public import struct NIOHTTP1.HTTPHeaders
@_exported public import enum NIOHTTP1.HTTPMethod
@_exported public import struct NIOHTTP1.HTTPResponseHead
@_exported public import enum NIOHTTP1.HTTPResponseStatus
