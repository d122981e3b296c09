/// Seeds whose programs have shown something, with what it was. They run first.
enum OldFindings {
    static let seeds: [UInt64] = []
}
