import GRDB
import Base

/// Makes the app ready to receive messages (seed module "Initialization"), and keeps its subscriptions in step with the cube.
struct Initialization: Sendable {
    let platform: Platform
    let database: AppDatabase
    let subscriptions: Subscriptions

    private static let doneMemory = "initialized"

    /// Whether it was once completed on this phone.
    func isDone() async throws -> Bool {
        try await database.db.read { db in try db.memory(Self.doneMemory) != nil }
    }

    /// Asks for permission on iOS, subscribes to what is Forced or Recommended, and marks the app as initialised (seed: `init`).
    ///
    /// It may be repeated after a failure, and continues where it was. (The seed's app had to be installed again.)
    ///
    /// - Throws: ``HubFailure``, or the error of the connection or of the push service.
    func initialize() async throws {
        if platform.kind == .ios, try await !isDone() {
            // Without permission there are no pop-ups, but messages still come to the app.
            _ = try await platform.push.requestPermission()
        }
        try await initializeSubscriptions()
        try await database.db.write { db in try db.keep("true", as: Self.doneMemory) }
    }

    /// Subscribes the phone to every Forced and Recommended topic of the cube, by the rules of ``SubscriptionPlan``
    /// (seed: `initSubs`).
    func initializeSubscriptions() async throws {
        try await subscriptions.follow()
    }
}
