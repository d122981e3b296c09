import FMData

extension DataAPI.Config {
    /// Answers of a transport in memory arrive on the thread that asks, before its call returns.
    static var atOnce: DataAPI.Config {
        var config = DataAPI.Config()
        config.delivery = .eventLoop
        return config
    }
}
