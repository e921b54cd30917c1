import Base
import Bus
import FoundationEssentials
import NIOHTTP1
import Schemas
import ServiceKit
import TestSupport

/// The services that students need, on SQLite, and the identity emulator, whose tokens sign them in.
final class StudentStack: Sendable {
    /// A student who is signed in on a device.
    struct Student: Sendable {
        let account: String
        let device: TestDevice
        let id: ObjectID
        let token: Secret
    }

    let folder: String
    let portal: Portal
    let people: CommandClient
    let identity: IdentityServer
    private let settings: [String: [String: String]]

    /// What signing in needs.
    static let services = ["msi-cube", "msi-people", "msi-gateway"]
    private static let address = "127.0.0.1"

    private init(
        folder: String, portal: Portal, people: CommandClient, identity: IdentityServer, settings: [String: [String: String]]
    ) {
        self.folder = folder
        self.portal = portal
        self.people = people
        self.identity = identity
        self.settings = settings
    }

    /// Runs a body while the identity emulator and the services run.
    ///
    /// - Parameters:
    ///   - services: The executables, in the order of their start.
    ///   - streams: How many streams of events, or other connections, are open at once at most.
    ///   - folder: A folder that does not exist yet.
    ///   - body: Gets the stack, and the processes of the services.
    static func with<Value>(
        _ services: [String] = services, streams: Int, in folder: String,
        _ body: (StudentStack, [ServiceProcess]) async throws -> Value
    ) async throws -> Value {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let port = try FreePort.choose()
        let connections = "\(2 * streams + 400)"
        let emulator = try await ServiceProcess(
            "msi-identity-emulator", in: folder, settings: ["MSI_IDENTITY_EMULATOR_PORT": "0"])
        return try await perform {
            let access = IdentityEmulatorAccess(port: try emulator.port)
            let settings = [
                "msi-people": access.settings,
                "msi-gateway": MessageStack.unlimitedGateway.merging([
                    "MSI_GATEWAY_PORT": "\(port)", "MSI_GATEWAY_MAX_CONNECTIONS": connections,
                    "MSI_GATEWAY_MAX_CONNECTIONS_PER_ADDRESS": connections,
                ]) { $1 },
            ]
            return try await withServices(services, in: folder) { name, _ in
                settings[name] ?? [:]
            } _: { running in
                try await withHTTPClient { http in
                    try await withBus { bus in
                        let people = try CommandClient(
                            bus: bus, endpoints: ["ipc://\(folder)/run/\(ServiceEntry.people.socketFile(.commands))"],
                            logger: quietLogger)
                        let stack = StudentStack(
                            folder: folder, portal: Portal(port: port, http: http, token: nil), people: people,
                            identity: IdentityServer(url: access.url, http: http), settings: settings)
                        return try await body(stack, running)
                    }
                }
            }
        } finally: {
            await emulator.stop()
        }
    }

    /// Starts a service again that has stopped.
    ///
    /// - Returns: The process, and the seconds until it was ready.
    func start(_ name: String) async throws -> (process: ServiceProcess, seconds: Double) {
        let begin = ContinuousClock.now
        let process = try await ServiceProcess(name, in: folder, settings: settings[name] ?? [:])
        return (process, (ContinuousClock.now - begin) / .seconds(1))
    }

    // MARK: Students

    /// Registers students and signs each in on a device, some at once.
    func students(_ count: Int) async throws -> [Student] {
        let clients = min(64, count)
        return try await concurrently(clients) { client in
            var students: [Student] = []
            for number in stride(from: client, to: count, by: clients) {
                students.append(try await self.register("student-\(number)"))
            }
            return students
        }.flatMap { $0 }
    }

    private func register(_ name: String) async throws -> Student {
        guard let account = AccountName(name) else { throw PeerFailure(description: "\(name) is no name of an account") }
        let device = TestDevice()
        let credential = try await credential(of: name)
        let first = try await people.request(ChallengeDevice()).nonce
        _ = try await people.request(
            AddPerson(
                account: account, credential: credential, device: device.document, nonce: first,
                proof: device.proof(of: credential, nonce: first), address: Self.address))
        let second = try await people.request(ChallengeDevice()).nonce
        let signedIn = try await people.request(
            BeginDevice(
                credential: credential, device: device.document, nonce: second,
                proof: device.proof(of: credential, nonce: second), address: Self.address))
        return Student(account: name, device: device, id: signedIn.device, token: signedIn.token)
    }

    /// A new ID token of Firebase.
    func credential(of account: String) async throws -> PersonCredential {
        PersonCredential(provider: .firebase, idToken: try await identity.token(.firebase, of: account))
    }

    private func nonce() async throws -> Secret {
        let answer = try await portal.call(.GET, "/user/challenge")
        guard answer.status == 200, let nonce = try answer.json["nonce"]?.string else { throw UnexpectedAnswer(answer) }
        return Secret(nonce)
    }

    /// Signs in on a new device through the gateway: the challenge, and `PUT /user`.
    func signIn(with credential: PersonCredential) async throws {
        let device = TestDevice()
        let answer = try await portal.call(.PUT, "/user", try device.signInBody(with: credential, nonce: try await nonce()))
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
    }

    /// Gets another token of a device through the gateway: the challenge, and `POST /user/token`.
    func exchange(_ student: Student) async throws {
        let nonce = try await nonce()
        let answer = try await portal.call(
            .POST, "/user/token",
            [
                "device": .string("\(student.id)"), "nonce": .string(nonce.text),
                "proof": .string(try student.device.proof(.token, nonce: nonce, subject: "\(student.id)")),
            ])
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
    }
}
