import ArgumentParser
import Bus
import Base
import FoundationEssentials
import Glibc
import Schemas
import ServiceKit

/// `msi keys`: the keys of machines whose services talk to each other over `tcp://`, and those of students' tokens.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Makes and shows the keys of the bus between machines, and renews that of students' tokens.",
        discussion: """
            Each machine has its own secret key, in the file that MSI_BUS_KEY_FILE names. All machines have the same list of peers, in the \
            file that MSI_BUS_PEERS_FILE names: a line with the name and the public key of each machine. The name is the host as the \
            endpoints have it. On each machine, this makes the key and adds its line, which you then copy to the lists of the others:

                msi keys new /var/lib/msi/bus-key --name hub-1.example.edu >>/etc/msi/peers

            Services read the list again when it has changed. A machine whose line is removed loses its connections within seconds.

            msi keys tokens makes a new key that signs the tokens of students' devices, while the product runs.

            Exit status: 0 if it is done, 1 if not, 66 if a file cannot be read.
            """,
        subcommands: [NewKey.self, PublicKey.self, NewTokenKey.self])
}

/// A machine's line in the list of peers.
private struct PeerLine: Encodable {
    let name: String
    let publicKey: String

    private enum CodingKeys: String, CodingKey {
        case name
        case publicKey = "public_key"
    }
}

/// The options of both subcommands.
struct PeerLineOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The file of the secret key.", valueName: "file"))
    var file: String

    @Option(help: "The machine's name in the endpoints of the others; without it, the host name.")
    var name: String?

    @Flag(name: .customLong("json"), help: "Print an object with name and public_key.")
    var printsJSON = false

    func validate() throws {
        guard !machine.isEmpty, !machine.hasPrefix("#"), machine.allSatisfy({ !$0.isWhitespace }) else {
            throw ValidationError("--name: expected a host name or an address, found \"\(machine)\"")
        }
    }

    fileprivate func show(_ keys: BusKeyPair) throws {
        let line = PeerLine(name: machine, publicKey: keys.publicKey.text)
        print(printsJSON ? String(decoding: try JSONCoder.encode(line), as: UTF8.self) : "\(line.name) \(line.publicKey)")
    }

    private var machine: String {
        name ?? ProcessInfo.processInfo.hostName
    }
}

/// `msi keys new`.
struct NewKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Makes a secret key, and prints the line for the list of peers.",
        discussion: "Only the file's owner can read it. A file that exists stays as it is.")

    @OptionGroup var options: PeerLineOptions

    func run() throws {
        do {
            let keys = try BusKeyPair.make()
            guard try DurableFiles.create(options.file, keys.secret + "\n") else {
                StandardError.write("msi: \(options.file) exists, and stays as it is; msi keys public shows its public key\n")
                throw ExitCode.failure
            }
            try options.show(keys)
        } catch let error where error is DurableFileFailure || error is BusError {
            StandardError.write("msi: \(error)\n")
            throw ExitCode.failure
        }
    }
}

/// `msi keys public`.
struct PublicKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public", abstract: "Prints the line for the list of peers of a key that exists.")

    @OptionGroup var options: PeerLineOptions

    func run() throws {
        do {
            let text = try OperatorFile.text(at: options.file, of: Setting.busKeyFile.declaration)
            guard let keys = BusKeyPair(secret: text) else {
                throw ConfigurationError("\(options.file) does not hold a secret key of 40 characters, as msi keys new writes it")
            }
            try options.show(keys)
        } catch let error as ConfigurationError {
            StandardError.write("msi: \(error)\n")
            throw ExitCode(EX_NOINPUT)
        }
    }
}

/// `msi keys tokens`.
struct NewTokenKey: PeopleCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens", abstract: "Makes a new key that signs the tokens of students' devices.",
        discussion: """
            The people service does so by itself every thirty days. Tokens that an earlier key has signed stay valid until they expire. \
            After a theft of the key, --forget ends them at once: each device asks for a new token, and nobody has to sign in again. \
            A restore of an older backup brings these keys back: run it again after the restore.

            Exit status: 0 if it is done, 1 if it is refused, 75 if the people service does not answer or has too much to do, 78 if a setting is wrong.
            """)

    @Flag(help: "End the tokens that earlier keys have signed.")
    var forget = false

    func run(_ people: PeopleClient, _ settings: SettingValues) async throws -> String {
        let key = try await people.request(RotateDeviceTokenKey(forget: forget ? true : nil))
        return "the new key of students' tokens is \(key.id); "
            + (forget ? "tokens of earlier keys have ended" : "tokens of earlier keys stay valid until they expire")
    }
}
