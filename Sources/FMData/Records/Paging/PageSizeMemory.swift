import NIOConcurrencyHelpers

/// The sizes of pages that have proved themselves, by what they are pages of; for all who share a database.
final class PageSizes: Sendable {
    private let sizes = NIOLockedValueBox<[String: Int]>([:])

    /// - Parameters:
    ///   - subject: what the pages are of.
    ///   - fixed: what the caller wants instead.
    func memory(of subject: String, fixed: Int?) -> PageSizeMemory {
        PageSizeMemory(sizes: self, subject: subject, fixed: fixed)
    }

    subscript(subject: String) -> Int? {
        get { sizes.withLockedValue { $0[subject] } }
        set { sizes.withLockedValue { $0[subject] = newValue } }
    }
}

/// The size of the pages of one subject.
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
