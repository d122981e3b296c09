/// Seeds whose programs have shown something, with what it was. They run first.
///
/// A change of how programs are drawn makes other programs of them; those of the planted bugs are in `PlantedBugs/README.md`.
enum OldFindings {
    static let seeds: [UInt64] = [
        // Found.
        4,  // A find of several calls that failed was never let go, nor was its server.
        17_445,  // A logout that had failed was forgotten, as the next alarm had been set before its pool was closed.
        5595,  // The same, of many pools at once.
        // Planted again.
        29,  // Who cancelled when the value came was told of the end.
        106,  // A pool that was let go forgot a logout that was to be repeated.
        112,  // The session of a login that everybody had given up was nobody's.
        131,  // A login of one's own was not told of a shutdown, and never ended.
    ]

    /// Those of several accounts.
    static let accountsSeeds: [UInt64] = [
        84,  // Who asked for an account while it was replaced in the object in use was given that object.
        130,  // A slow subscriber of changes was told of another file instead of another account.
        167,  // One of values was told of changes from one account's records to another's, without a reset.
    ]

    /// Those of journals.
    static let journalsSeeds: [UInt64] = [
        // Rows that met a login whose answer was no HTTP were noted as refused for good, and were never sent.
        229,
        6146,  // A delete that was refused after a lost answer was told as failed, and had been carried out.
        // Planted again.
        9,  // A row was sent before its attempt was noted.
        55,  // A row of a killed run was looked for once, while the host was still at work on it.
    ]

    /// Those of live queries.
    static let liveSeeds: [UInt64] = [
        // A login that was told of a dead token counted as one with refused credentials, and was never tried again.
        2046, 4149, 4590, 4910, 7998,
        8202,  // The sandbox closed before the last bytes of a compressed answer had left.
    ]

    /// Those of copies.
    static let copiesSeeds: [UInt64] = [
        405,  // A backup that was restored between two looks, without a request that failed, was not noticed.
        1057,  // The sandbox took a connection for idle whose answer was still on its way to a slow client.
    ]
}
