import NIOConcurrencyHelpers

/// The page sizes that worked before, by subject. A tenure has one, shared by all reads of its database.
final class PageSizes: Sendable {
    private let sizes = NIOLockedValueBox<[String: Int]>([:])

    /// - Parameters:
    ///   - subject: the key of the pages' contents.
    ///   - fixed: a size that the caller gives; it is neither looked up nor remembered.
    func memory(of subject: String, fixed: Int?) -> PageSizeMemory {
        PageSizeMemory(sizes: self, subject: subject, fixed: fixed)
    }

    subscript(subject: String) -> Int? {
        get { sizes.withLockedValue { $0[subject] } }
        set { sizes.withLockedValue { $0[subject] = newValue } }
    }
}

/// The page size of one subject.
struct PageSizeMemory: Sendable {
    fileprivate let sizes: PageSizes
    fileprivate let subject: String
    fileprivate let fixed: Int?

    var size: PageSize {
        fixed.map(PageSize.init(fixed:)) ?? PageSize(current: sizes[subject] ?? PageSize.initial)
    }

    func learned(_ size: PageSize) {
        if fixed == nil { sizes[subject] = size.current }
    }
}

extension Tenure {
    /// The page sizes of the layouts.
    var pageSizes: PageSizes { attachments.value { PageSizes() } }
}
