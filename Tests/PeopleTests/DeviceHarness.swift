import Base
import Bus
import JWTKit
import Schemas
import Store
import Synchronization
import TestSupport

@testable import People

/// The keys of a provider in a test.
final class TestKeys: KeySource {
    private let published: Mutex<[JWK]>

    init(_ keys: JSONValue...) throws {
        published = Mutex(try Self.read(keys))
    }

    func publish(_ keys: JSONValue...) throws {
        let read = try Self.read(keys)
        published.withLock { $0 = read }
    }

    private static func read(_ keys: [JSONValue]) throws -> [JWK] {
        try keys.map { try JSONCoder.decode(JWK.self, from: $0.data) }
    }

    func key(_ identifier: String?) async throws -> JWK {
        guard let key = published.withLock({ $0.first { $0.keyIdentifier?.string == identifier } }) else {
            throw IDTokenRefusal.key
        }
        return key
    }
}

/// A person of a test who is signed in on a device.
struct SignedInPerson: Sendable {
    let client: PatientClient
    let device: TestDevice
    let signedIn: DeviceSignedIn

    var id: ObjectID { signedIn.device }
    var account: AccountName { signedIn.person.account }
    /// As the gateway sends the person's commands.
    var context: CallerContext { CallerContext(actor: account.description, address: "192.0.2.1") }

    /// Another token of the device.
    func token() async throws -> ExchangeDeviceToken.Reply { try await client.request(try await exchange()) }

    /// Why there is none.
    func refusal(nonce: Secret? = nil) async throws -> CommandFailure? { await client.failure(of: try await exchange(nonce)) }

    private func exchange(_ given: Secret? = nil) async throws -> ExchangeDeviceToken {
        var nonce = given
        if nonce == nil { nonce = try await client.request(ChallengeDevice()).nonce }
        let signed = nonce ?? Secret("")
        return ExchangeDeviceToken(device: id, nonce: signed, proof: try device.proof(.token, nonce: signed, subject: "\(id)"))
    }
}

extension RunningPeople {
    static let address = "192.0.2.1"

    static func password(of account: AccountName, _ password: Secret = password, code: Secret? = nil) -> PersonCredential {
        PersonCredential(provider: .password, account: account.description, password: password, code: code)
    }

    func nonce() async throws -> Secret { try await client.request(ChallengeDevice()).nonce }

    /// The command of `PUT /user`.
    func begin(
        _ credential: PersonCredential, on device: TestDevice = TestDevice(), address: String = address
    ) async throws -> BeginDevice {
        let nonce = try await nonce()
        return BeginDevice(
            credential: credential, device: device.document, nonce: nonce, proof: try device.proof(of: credential, nonce: nonce),
            address: address)
    }

    /// The command of `POST /user`.
    func add(
        _ name: AccountName, _ credential: PersonCredential, on device: TestDevice = TestDevice(), code: Secret? = nil,
        key: String? = nil, address: String = address
    ) async throws -> AddPerson {
        let nonce = try await nonce()
        return AddPerson(
            account: name, credential: credential, device: device.document, nonce: nonce,
            proof: try device.proof(of: credential, nonce: nonce), accessCode: code, idempotencyKey: key, address: address)
    }

    /// Signs in on a device.
    func signIn(_ credential: PersonCredential, on device: TestDevice = TestDevice()) async throws -> SignedInPerson {
        SignedInPerson(
            client: client, device: device, signedIn: try await client.request(try await begin(credential, on: device)))
    }

    /// Why nobody can sign in with a credential.
    func refusal(of credential: PersonCredential, on device: TestDevice = TestDevice()) async throws -> CommandFailure? {
        await client.failure(of: try await begin(credential, on: device))
    }

    /// A person who has just registered with a password, and signed in on a device.
    func signedIn(_ name: AccountName, on device: TestDevice = TestDevice()) async throws -> SignedInPerson {
        let credential = Self.password(of: name)
        _ = try await client.request(try await add(name, credential, on: device))
        return try await signIn(credential, on: device)
    }

    /// The ends of tokens, and the keys.
    func deviceChanges(after number: Int64 = 0) async throws -> DevicesChanged {
        try await client.request(ReadDeviceChanges(after: number))
    }
}

/// Makes changes in a new store, without a service.
func withPeopleChanges(_ kind: StoreKind, _ body: (PeopleChanges, TestClock) async throws -> Void) async throws {
    let url = try await kind.newDatabaseURL().map { try MongoURL($0) }
    let clock = TestClock()
    try await withTemporaryFolder { folder in
        try await withBus { bus in
            let publisher = try EventPublisher(bus: bus, endpoint: "ipc://\(folder)/events.sock", logger: quietLogger)
            let store = try await Storage.open(
                PeopleStore.declaration, at: StoragePlace(database: url, folder: folder), logger: quietLogger,
                now: { clock.now })
            let changes = PeopleChanges(
                store: store,
                event: RepeatedEvent(PeopleChanged.name, publisher: publisher, logger: quietLogger) { PeopleChanged(after: 0) },
                deviceEvent: RepeatedEvent(DevicesChanged.name, publisher: publisher, logger: quietLogger) {
                    DevicesChanged(after: 0, ended: [], keys: [])
                },
                issuer: nil, now: { clock.now })
            try await perform {
                try await body(changes, clock)
            } finally: {
                try await store.close()
            }
        }
    }
}
