import ArgumentParser
import Base
import FoundationEssentials
import Glibc
import Schemas

/// `msi cube`: the information cube as a file.
struct CubeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cube", abstract: "Writes channels, areas and subjects to a file, or reads them from one.",
        subcommands: [ExportCube.self, ImportCube.self])
}

/// The form of a cube's file.
enum CubeFormat: String, CaseIterable, ExpressibleByArgument {
    case json, csv

    /// The form that a file's name shows.
    ///
    /// - Throws: ``GatewayFailure`` if it shows none.
    init(of file: String) throws {
        let isStandard = ["-", "/dev/stdin", "/dev/stdout"].contains(file)
        let form = isStandard ? .json : file.split(separator: ".").last.flatMap { CubeFormat(rawValue: $0.lowercased()) }
        guard let form else {
            throw GatewayFailure(.refused, "\(file): name it .json or .csv, or give --format")
        }
        self = form
    }
}

/// `msi cube export`.
struct ExportCube: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the channels, areas and subjects, as JSON or CSV.",
        discussion: """
            JSON is like the answer of GET /channel, with ids. CSV has a row for each subject, for spreadsheets. Access lists are left out \
            unless the token is that of an administrator of the whole cube. The gateway and the token are those of `msi send`.

            A file that exists is replaced only with --replace. A device or a pipe, such as /dev/stdout, is written to.

            Exit status: 65 if the file exists or cannot be written, otherwise as that of msi cube import.
            """)

    @Argument(help: ArgumentHelp("The file to write; -, or nothing, for standard output.", valueName: "file"))
    var file = "-"

    @Option(help: "json or csv; without it, as the file's name ends, or JSON for standard input and output.")
    var format: CubeFormat?

    @Flag(help: "Replace the file if it exists.")
    var replace = false

    func run() async throws {
        try await Self.withGateway { gateway, _ in
            guard replace || !OutputFile.exists(file) else {
                throw GatewayFailure(.refused, "\(file) exists already, and may have changes of yours; --replace replaces it")
            }
            let (channels, version): ([Channel], String?) = try await gateway.getWithVersion("/channel")
            let showsAccess = !CubeFile.isWithoutAccess(version)
            if !showsAccess { Self.say("access lists are left out: they are shown only with the token of an administrator") }
            do {
                let cube = CubeFile(channels, showsAccess: showsAccess)
                let text =
                    switch try format ?? CubeFormat(of: file) {
                    case .json: try Self.json(cube.channels)
                    case .csv: try cube.csv()
                    }
                try OutputFile.write(text, to: file)
            } catch {
                throw GatewayFailure(.refused, "\(error)")
            }
        }
    }

    /// Lines and a stable order, so that a version control system shows what has changed.
    private static func json(_ channels: [CubeFile.Channel]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(channels), as: UTF8.self)
        // The encoder writes empty arrays in three lines. A line break is never inside a string.
        return text.replacing(/\[\n\n *\]/, with: "[]") + "\n"
    }
}

/// `msi cube import`.
struct ImportCube: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Adds and changes channels, areas and subjects as a file says.",
        discussion: """
            Parts of the file are those of the cube with the same id, or else with the same names. A field or column that is missing \
            stays as it is. What the file does not mention stays too, unless --remove-others is given: then it is removed, with its \
            subscriptions.

            Look at the difference with --dry-run first. An import that was interrupted is completed by importing again. An object that \
            another person changes during the import is not overwritten. The order is not imported; what is new comes last. The gateway and the token are those of `msi send`; access lists and \
            approvals need the operator's token.

            CSV is in UTF-8, with commas or semicolons between cells. It has a header, and a row for each subject, or for an area or a \
            channel with nothing inside:

              channel,area,subject,level,distribution,channel_desc
              Campus,Weather,Storms,Forced,Alert,For everyone
              Campus,Transport,Shuttle buses,Optional,Information,

            Only the column channel is required. The others are area, subject, level (Forced, Recommended or Optional), distribution \
            (Alert or Information; required for a new subject), approval (true or false), channel_desc, area_desc, subject_desc, \
            channel_access, area_access and subject_access (names of accounts, separated by spaces). With an empty cell, a level, a \
            distribution or an approval stays as it is. An empty description or access list is empty, or, below a row of the same \
            channel or area, the same as there. An apostrophe before =, +, - or @ is not a part of a cell: an export writes it, so that \
            spreadsheets compute nothing.

            Exit status:
              0   the cube is as the file says; with --dry-run: the file can be imported
              65  the file is wrong, or the gateway refuses a change
              75  the gateway does not answer
              77  the token is missing or does not allow it
              78  a setting is wrong
            """)

    @Argument(help: ArgumentHelp("The file; - for standard input.", valueName: "file"))
    var file: String

    @Option(help: "json or csv; without it, as the file's name ends, or JSON for standard input and output.")
    var format: CubeFormat?

    @Flag(name: .customLong("dry-run"), help: "Only show what would change.")
    var isDryRun = false

    @Flag(name: .customLong("remove-others"), help: "Remove what the file does not mention.")
    var removesOthers = false

    @Flag(name: .customLong("json"), help: "Print each change as a line of JSON.")
    var printsJSON = false

    func run() async throws {
        try await Self.withGateway { gateway, _ in
            let wanted = try read()
            let (cube, version): ([Channel], String?) = try await gateway.getWithVersion("/channel")
            guard !CubeFile.isWithoutAccess(version) || !wanted.hasAccess else {
                throw GatewayFailure(
                    .notAllowed,
                    "the file has access lists, which are shown and changed only with the operator's token; leave them out")
            }
            let edits: [CubeEdit]
            do {
                edits = try CubeDifference(from: cube, to: wanted, removesOthers: removesOthers).edits
            } catch let error as CubeFileError {
                throw GatewayFailure(.refused, "\(error)")
            }
            if isDryRun {
                for edit in edits { show(edit) }
            } else {
                var run = CubeImport(gateway: gateway, version: version)
                try await run.apply(edits, report: show)
            }
            if !printsJSON { print(Self.summary(edits, isDryRun: isDryRun)) }
        }
    }

    private func show(_ edit: CubeEdit) {
        let line = printsJSON ? (try? JSONCoder.encode(edit)).map { String(decoding: $0, as: UTF8.self) } : nil
        print(line ?? "\(edit)")
        fflush(nil)
    }

    private static func summary(_ edits: [CubeEdit], isDryRun: Bool) -> String {
        guard !edits.isEmpty else { return "nothing changes" }
        let counts = [("added", 0), ("changed", 0), ("removed", 0)].enumerated().map { index, entry in
            let count = edits.count { edit in
                switch edit.action {
                case .add, .addSubject: index == 0
                case .remove: index == 2
                default: index == 1
                }
            }
            return "\(count) \(entry.0)"
        }
        return counts.joined(separator: ", ") + (isDryRun ? " (nothing was changed: --dry-run)" : "")
    }

    /// - Throws: ``GatewayFailure`` with the file's name.
    private func read() throws -> CubeFile {
        do {
            let format = try format ?? CubeFormat(of: file)
            let text = try InputText.read(file, maxBytes: Self.maxBytes)
            return switch format {
            case .json: try CubeFile(json: Data(text.utf8))
            case .csv: try CubeFile(csv: text)
            }
        } catch let failure as GatewayFailure {
            throw failure
        } catch {
            throw GatewayFailure(.refused, "\(file == "-" ? "standard input" : file): \(error)")
        }
    }

    /// The limit for a file to read; larger than the largest valid cube.
    private static let maxBytes = 64 << 20
}
