import ArgumentParser
import JSON
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
