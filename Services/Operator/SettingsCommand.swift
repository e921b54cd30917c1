import ArgumentParser
import Base
import ServiceKit

/// `msi settings`: a configuration file with every setting.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Prints a configuration file with every setting, its meaning and its default, all commented out.",
        discussion: """
            The file is for MSI_CONFIG_FILE, or for a service manager that sets the environment. A variable of the environment \
            overrides the file. A service ignores the settings of other services, so that all can have the same file.
            """)

    @Flag(name: .customLong("json"), help: "Print an array of the settings instead.")
    var printsJSON = false

    func run() throws {
        let sections = SettingsSample.sections
        guard printsJSON else {
            print(SettingsSample(sections: sections))
            return
        }
        let settings = sections.flatMap(\.settings).map(DescribedSetting.init)
        print(String(decoding: try JSONCoder.encode(settings), as: UTF8.self))
    }
}

/// A setting in JSON.
private struct DescribedSetting: Encodable {
    let name: String
    let summary: String
    let expected: String
    let `default`: String?
    let secret: Bool
    let reloads: Bool
    let programs: [String]

    init(_ setting: SettingDeclaration) {
        name = setting.name
        summary = setting.summary
        expected = setting.expected
        self.default = setting.fallback
        secret = setting.isSecret
        reloads = setting.isLive
        programs = SettingsSample.programs(reading: setting)
    }
}

/// The text of a configuration file with all settings.
struct SettingsSample: CustomStringConvertible {
    /// The settings of a program that no earlier section has.
    struct Section: Sendable {
        let title: String
        let settings: [SettingDeclaration]
    }

    let sections: [Section]

    /// Every setting once, except the file itself.
    static var sections: [Section] {
        var known: Set = [SettingDeclaration.configFile]
        func section(_ title: String, _ settings: [SettingDeclaration]) -> Section {
            Section(title: title, settings: settings.filter { known.insert($0).inserted })
        }
        let services = programs.map { section($0.executable, $0.settings) }
        return [section("every service", SettingDeclaration.common)] + services
            + [section("msi send and other commands that call a gateway", SettingDeclaration.callingGateway)]
    }

    /// The programs that read a setting, each once.
    static func programs(reading setting: SettingDeclaration) -> [String] {
        let isCommon = SettingDeclaration.common.contains(setting)
        let services = programs.filter { isCommon || $0.settings.contains(setting) }.map(\.executable)
        let others = SettingDeclaration.callingGateway.contains(setting) ? ["msi"] : []
        return (services + others).reduce(into: []) { known, name in
            if !known.contains(name) { known.append(name) }
        }
    }

    private static let programs = ServiceEntry.all + ServiceEntry.optional + [.phone, .phoneFleet]

    var description: String {
        let head = """
            # The settings of Mobile Student Intranet \(productVersion). Remove a # to change one. A line without a value has no
            # default, or one that depends on another setting. Values are not in quotation marks. ~/ at the beginning of a value
            # is the home folder. A reload (systemctl reload, or SIGHUP) makes a service read this file again; it changes the
            # settings that say so, and the others need a restart.
            """
        return ([head] + sections.filter { !$0.settings.isEmpty }.map(Self.text)).joined(separator: "\n\n\n")
    }

    private static func text(_ section: Section) -> String {
        (["# --- \(section.title) ---"] + section.settings.map(text)).joined(separator: "\n\n")
    }

    private static func text(_ setting: SettingDeclaration) -> String {
        let others = programs(reading: setting)
        let readers =
            SettingDeclaration.common.contains(setting) || others.count < 2 ? "" : " Read by \(others.joined(separator: ", "))."
        let depends = setting.fallback?.contains("$") == true
        let fallback =
            depends ? " Default: \(setting.followedName.map { "that of \($0), or " } ?? "")\(setting.fallback ?? "")." : ""
        let live = setting.isLive ? " A reload changes it." : ""
        let lines = "\(setting.summary) It is \(setting.expected).\(fallback)\(live)\(readers)".wrapped(at: 118).map { "# \($0)" }
        return (lines + ["#\(setting.name)=\(depends ? "" : setting.fallback ?? "")"]).joined(separator: "\n")
    }
}

extension String {
    /// Its words in lines of limited length.
    fileprivate func wrapped(at width: Int) -> [String] {
        split(whereSeparator: \.isWhitespace).reduce(into: []) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
    }
}
