/// Seeds whose programs have shown a bug, with a description of it. They run first.
///
/// A change of how programs are drawn gives these seeds other programs; the seeds of the planted bugs are in
/// `PlantedBugs/README.md`.
enum RegressionSeeds {
    static let all: [(work: Work, seeds: [UInt64])] = [
        (.calls, callsSeeds), (.live, liveSeeds), (.accounts, accountsSeeds), (.journals, journalsSeeds),
        (.copies, copiesSeeds), (.fleets, fleetsSeeds),
    ]

    private static let callsSeeds: [UInt64] = [
        // Bugs that were found.
        4,  // A find of several calls that failed was never released, nor was its server.
        17_445,  // A failed logout was not repeated: the next alarm had been set before its pool was closed.
        5595,  // The same, with many pools at once.
        // Bugs that were planted again.
        29,  // A subscriber that cancelled when the value came received the completion.
        106,  // A deallocated pool forgot a logout that was to be repeated.
        112,  // The session of a login that all waiting requests had given up was never used nor ended.
        131,  // A call's own login was not ended by a shutdown.
    ]

    /// Seeds of several accounts.
    private static let accountsSeeds: [UInt64] = [
        84,  // Asking for an account while the object in use changed to it returned that object.
        130,  // A slow subscriber of changes received a reset for another file instead of another account.
        167,  // A subscriber of values received changes from one account's records to another's, without a reset.
    ]

    /// Seeds of journals.
    private static let journalsSeeds: [UInt64] = [
        // Rows whose login was answered without HTTP were noted as rejected for good, and were never sent.
        229,
        6146,  // A delete rejected after a lost answer was reported as failed, but had been carried out.
        // Bugs that were planted again.
        9,  // A row was sent before its attempt was noted.
        55,  // A row of a killed run was looked up once, while the host was still working on it.
    ]

    /// Seeds of live queries.
    private static let liveSeeds: [UInt64] = [
        // A login answered by an invalid token counted as one with wrong credentials, and was never repeated.
        2046, 4149, 4590, 4910, 7998,
        8202,  // The sandbox closed before the last bytes of a compressed answer were sent.
    ]

    /// Seeds of copies.
    private static let copiesSeeds: [UInt64] = [
        405,  // A backup restored between two polls, without a failed request, was not noticed.
        1057,  // The sandbox took a connection as idle while its answer was still on its way to a slow client.
    ]

    /// Seeds of fleets.
    private static let fleetsSeeds: [UInt64] = [
        // A member that had stood still took its own slot again, and used its session under both leases.
        1266,
        // What was found in the simulation itself.
        1051,  // A channel that its handler had closed at once counted as open.
        1380,  // The session of a slot that was given back to a store that was away was not accounted for.
        1362, 1598,  // Pinned work failed since the host had ended its session, and this was not excused.
    ]
}
