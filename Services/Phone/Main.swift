import ServiceKit

@main
enum Main {
    static func main() {
        ServiceMain.run(.phone) { try await ServicePlan.phone($0) }
    }
}
